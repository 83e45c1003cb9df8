package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestHSTS learns a host from nginx, and then replaces http by https in URLs
// and in redirects.
func TestHSTS(t *testing.T) {
	a := newAuthority(t)
	s := peer.Nginx(t, peer.NginxOptions{TLS: true, Cert: a.server, Server: `
		add_header Strict-Transport-Security max-age=3600;
		location /to { return 302 http://localhost:$arg_port/hello; }`})
	s.Put("hello", []byte("hello\n"))
	_, port, _ := strings.Cut(s.TLSAddr, ":")
	secure, plain := "https://localhost:"+port, "http://localhost:"+port
	file := filepath.Join(t.TempDir(), "hsts")
	t.Chdir(a.dir)
	fetch := func(args ...string) (code int, out, messages string) {
		var stdout, stderr bytes.Buffer
		code = app.Run(append([]string{"-q", "--retry", "0", "--resolve", "localhost:" + port + ":127.0.0.1"}, args...),
			strings.NewReader(""), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	lines := func() string {
		b, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, url, want string
		args            []string
		code            int
		known           bool // the file has the host afterwards
	}{
		{"unknown host", plain + "/hello", "", []string{"--cacert", "ca.pem"}, 8, false},
		{"certificate not verified", secure + "/hello", "hello\n", []string{"-k"}, 0, false},
		{"learned", secure + "/hello", "hello\n", []string{"--cacert", "ca.pem"}, 0, true},
		{"known host", plain + "/hello", "hello\n", []string{"--cacert", "ca.pem", "-w", ""}, 0, true},
		{"redirect", secure + "/to?port=" + port, "hello\n", []string{"--cacert", "ca.pem"}, 0, true},
		{"plan", plain + "/hello", "", []string{"--cacert", "ca.pem", "-o", filepath.Join(t.TempDir(), "x")}, 0, true},
	} {
		code, out, messages := fetch(append(c.args, "--hsts", file, c.url)...)
		if code != c.code || out != c.want || strings.Contains(lines(), "localhost \"") != c.known {
			t.Errorf("%s: exit code %d, %q, file %q, %s", c.name, code, out, lines(), messages)
		}
	}
	if _, out, _ := fetch("--cacert", "ca.pem", "--hsts", file, "-w", "%{url_effective} %{num_redirects}", plain+"/hello"); out != "hello\n"+secure+"/hello 0" {
		t.Errorf("-w printed %q", out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file %v, %v", info, err)
	}
	t.Run("files", func(t *testing.T) {
		if code, out, _ := fetch("--cacert", "ca.pem", "--hsts", "", secure+"/hello"); code != 0 || out != "hello\n" {
			t.Errorf("no file: exit code %d", code)
		}
		if code, _, _ := fetch("--hsts", t.TempDir(), secure+"/hello"); code != 3 {
			t.Errorf("folder: exit code %d", code)
		}
		long := filepath.Join(t.TempDir(), "long")
		if err := os.WriteFile(long, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, _ := fetch("--hsts", long, secure+"/hello"); code != 3 {
			t.Errorf("long line: exit code %d", code)
		}
		other := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(other, []byte("my notes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, messages := fetch("--cacert", "ca.pem", "--hsts", other, secure+"/hello")
		if b, err := os.ReadFile(other); code != 3 || !strings.Contains(messages, other+": HSTS file: line 1 is not in curl's format") || err != nil || string(b) != "my notes\n" {
			t.Errorf("another file: exit code %d, %q, %s", code, b, messages)
		}
		full := bytes.Repeat([]byte("#\n"), 1_000_001)
		if err := os.WriteFile(long, full, 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, messages = fetch("--cacert", "ca.pem", "--hsts", long, secure+"/hello")
		if b, err := os.ReadFile(long); code != 3 || !strings.Contains(messages, "more than 1000000 lines") || err != nil || !bytes.Equal(b, full) {
			t.Errorf("file above the limit: exit code %d, %d bytes, %v, %s", code, len(b), err, messages)
		}
		if os.Geteuid() != 0 {
			return
		}
		foreign := filepath.Join(t.TempDir(), "foreign")
		if err := os.WriteFile(foreign, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		code, _, messages = fetch("--cacert", "ca.pem", "--hsts", foreign, secure+"/hello")
		if b, err := os.ReadFile(foreign); code != 3 || err != nil || len(b) > 0 {
			t.Errorf("file of another user: exit code %d, %q, %s", code, b, messages)
		}
		own, link := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.WriteFile(own, []byte("# text\n"), 0o600), os.Symlink(own, link), os.Lchown(link, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		code, _, messages = fetch("--cacert", "ca.pem", "--hsts", link, secure+"/hello")
		if b, err := os.ReadFile(own); code != 3 || err != nil || string(b) != "# text\n" {
			t.Errorf("link of another user: exit code %d, %q, %s", code, b, messages)
		}
	})
}

// TestHSTSOfTrees checks that the commands that read trees replace http by https
// too, also if config.toml names the file.
func TestHSTSOfTrees(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Strict-Transport-Security", "max-age=3600; includeSubDomains")
		io.WriteString(w, `<html><head><title>Index of /</title></head><body><h1>Index of /</h1><pre><a href="../">../</a>
<a href="file">file</a>         01-Jan-2026 00:00      5
</pre></body></html>`)
	}))
	defer s.Close()
	dir := t.TempDir()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "fetch"), 0o700), os.WriteFile(filepath.Join(dir, "ca.pem"), cert, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", dir)
	port := portOf(s.Listener.Addr().String())
	url, file := "http://example.com:"+port+"/", filepath.Join(dir, "hsts")
	for _, configured := range []bool{false, true} {
		for _, args := range [][]string{{"find", url}, {"du", url}, {"diff", url, url}, {"ls", url}} {
			if err := os.WriteFile(file, []byte("example.com \"20991231 00:00:00\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args[:1:1], append([]string{"--retry", "0", "--noproxy", "*", "--cacert", filepath.Join(dir, "ca.pem"),
				"--resolve", "example.com:" + port + ":127.0.0.1"}, args[1:]...)...)
			config := ""
			if configured {
				config = "hsts = '" + file + "'\n"
			} else {
				args = append(args, "--hsts", file)
			}
			if err := os.WriteFile(filepath.Join(dir, "fetch", "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := app.Run(args, strings.NewReader(""), &stdout, &stderr)
			if code != 0 {
				t.Errorf("%s, config.toml %v: exit code %d, %q, %s", args[0], configured, code, stdout.String(), stderr.String())
			}
			if b, err := os.ReadFile(file); !strings.Contains(string(b), ".example.com ") {
				t.Errorf("%s, config.toml %v: the response was not learned: %q, %v", args[0], configured, b, err)
			}
		}
	}
}

// TestHSTSOfRobots checks that a redirect of robots.txt is like every other one: it
// uses https for a host that requires it.
func TestHSTSOfRobots(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "User-agent: *\nDisallow: /private\n")
	}))
	defer secure.Close()
	port := portOf(secure.Listener.Addr().String())
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.Redirect(w, r, "http://example.com:"+port+"/robots.txt", http.StatusFound)
			return
		}
		io.WriteString(w, "hello\n")
	}))
	defer plain.Close()
	ca, file := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "hsts")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := errors.Join(os.WriteFile(ca, cert, 0o600), os.WriteFile(file, []byte("example.com \"20991231 00:00:00\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/private": 8, "/public": 0} {
		var stdout, stderr bytes.Buffer
		args := []string{"-q", "--retry", "0", "--noproxy", "*", "--cacert", ca, "--hsts", file, "--robots", "--resolve", "example.com:" + port + ":127.0.0.1", plain.URL + path}
		if code := app.Run(args, strings.NewReader(""), &stdout, &stderr); code != want {
			t.Errorf("%s: exit code %d, %q, %s", path, code, stdout.String(), stderr.String())
		}
	}
}
