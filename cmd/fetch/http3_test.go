package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// fetchHTTP3 runs the command and returns its exit code and outputs.
func fetchHTTP3(cert *peer.Cert, args ...string) (code int, out, messages string) {
	var stdout, stderr bytes.Buffer
	args = append([]string{"-q", "--noproxy", "*", "--retry", "0", "--cacert", cert.File}, args...)
	code = app.Run(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestHTTP3 retrieves files from the nginx of Debian 13 and from ngtcp2.
func TestHTTP3(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	for name, s := range map[string]*peer.Server{"nginx": peer.NginxHTTP3(t, peer.HTTP3Options{}), "ngtcp2": peer.GTLSServer(t)} {
		s.Put("hello", []byte("hello\n"))
		s.Put("large", large)
		url := "https://" + s.UDPAddr
		t.Run(name, func(t *testing.T) {
			code, out, messages := fetchHTTP3(s.Cert, "--http3-only", "-v", url+"/hello")
			if code != 0 || out != "hello\n" {
				t.Fatalf("exit code %d, %q, %s", code, out, messages)
			}
			for _, line := range []string{"(UDP)...", "SSL connection using TLSv1.3 / ", "ALPN: server accepted h3", "SSL certificate verify ok.",
				"using HTTP/3", "[HTTP/3] [:path: /hello]", "GET /hello HTTP/3", "< HTTP/3 200"} {
				if !strings.Contains(messages, line) {
					t.Errorf("-v does not print %q: %s", line, messages)
				}
			}
			if code, out, messages := fetchHTTP3(s.Cert, "--http3-only", url+"/large"); code != 0 || out != string(large) {
				t.Errorf("large: exit code %d, %d bytes, %s", code, len(out), messages)
			}
			if code, out, messages := fetchHTTP3(s.Cert, "--http3-only", url+"/none"); code != 8 {
				t.Errorf("none: exit code %d, %s, %s", code, out, messages)
			}
			args := []string{"--http3-only", "--local-port", "20000-20400", "-o", os.DevNull, "-w", "%{local_port}", url + "/hello"}
			if code, out, messages := fetchHTTP3(s.Cert, args...); code != 0 || !strings.HasPrefix(out, "20") || len(out) != 5 {
				t.Errorf("--local-port: exit code %d, %s, %s", code, out, messages)
			}
			if code, _, messages := fetchHTTP3(s.Cert, "--http3-only", "-I", url+"/large"); code != 0 {
				t.Errorf("-I: exit code %d, %s", code, messages)
			}
		})
	}
}

// TestHTTP3Flags checks what --http3 and --http3-only meet, with nginx.
func TestHTTP3Flags(t *testing.T) {
	s := peer.NginxHTTP3(t, peer.HTTP3Options{Server: `
		add_header Protocol $server_protocol always;
		location /to { return 302 /hello; }
		location /down { return 302 http://127.0.0.1:$arg_port/hello; }`})
	s.Put("hello", []byte("hello\n"))
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	s.Put("large", large)
	udp := peer.NginxHTTP3(t, peer.HTTP3Options{NoTCP: true, Cert: s.Cert})
	udp.Put("hello", []byte("hello\n"))
	tcp := peer.Nginx(t, peer.NginxOptions{HTTP2: true, Cert: s.Cert})
	tcp.Put("hello", []byte("hello\n"))
	other := peer.NewCert(t, peer.CertOptions{})
	squid := peer.Squid(t, peer.ProxyOptions{})
	url, dir := "https://"+s.TLSAddr, t.TempDir()
	file := filepath.Join(dir, "large")
	_, port, _ := strings.Cut(s.Addr, ":")
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string // "" if the body is not compared
		want string // part of the output or of the messages
	}{
		{"default", []string{"-w", "%{http_version}", url + "/hello"}, 0, "hello\n2", ""},
		{"try", []string{"--happy-eyeballs-timeout-ms", "600000", "--http3", "-w", "%{http_version}", url + "/hello"}, 0, "hello\n3", ""},
		{"try, no server over UDP", []string{"--http3", "-w", "%{http_version}", "https://" + tcp.TLSAddr + "/hello"}, 0, "hello\n2", ""},
		{"only, no server over UDP", []string{"--http3-only", "https://" + tcp.TLSAddr + "/hello"}, 4, "", "refused"},
		{"only, no server over TCP", []string{"--http3-only", "https://" + udp.UDPAddr + "/hello"}, 0, "hello\n", ""},
		{"try, no server over TCP", []string{"--http3", "https://" + udp.UDPAddr + "/hello"}, 0, "hello\n", ""},
		{"http URL", []string{"--http3-only", "http://" + s.Addr + "/hello"}, 0, "hello\n", ""},
		{"redirect", []string{"--http3-only", "-w", "%{num_redirects}", url + "/to"}, 0, "hello\n1", ""},
		{"redirect to plaintext", []string{"--http3-only", url + "/down?port=" + port}, 9, "", "https"},
		{"range", []string{"--http3-only", "-r", "0-3", url + "/large"}, 0, "0123", ""},
		{"file", []string{"--http3-only", "-o", file, url + "/large"}, 0, "", ""},
		{"resume", []string{"--http3-only", "-o", file, "-C", "-", url + "/large"}, 0, "", ""},
		{"segments", []string{"--http3-only", "--segments", "3", "-o", file, url + "/large"}, 0, "", ""},
		{"parallel", []string{"--http3-only", "-Z", url + "/hello", url + "/hello", url + "/hello"}, 0, "hello\nhello\nhello\n", ""},
		{"header", []string{"--http3-only", "-I", url + "/hello"}, 0, "", "HTTP/3 200"},
		{"fields as JSON", []string{"--http3-only", "-w", "%{header_json}", url + "/hello"}, 0, "", `"content-length":["6"]`},
		{"compressed", []string{"--http3-only", "--compressed", url + "/hello"}, 0, "hello\n", ""},
		{"unknown authority", []string{"--cacert", other.File, "--http3-only", url + "/hello"}, 5, "", "--cacert FILE"},
		{"unknown authority, try", []string{"--cacert", other.File, "--http3", url + "/hello"}, 5, "", ""},
		{"not verified", []string{"-k", "--http3-only", url + "/hello"}, 0, "hello\n", ""},
		{"pinned key differs", []string{"-k", "--http3-only", "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", url + "/hello"}, 5, "", "--pinnedpubkey"},
		{"other name in the certificate", []string{"--http3-only", "--resolve", "other.test:" + s.TLSAddr[len("127.0.0.1:"):] + ":127.0.0.1",
			"https://other.test:" + s.TLSAddr[len("127.0.0.1:"):] + "/hello"}, 5, "", "other.test"},
		{"proxy, only", []string{"--noproxy", "", "-x", "http://" + squid.Addr, "--http3-only", url + "/hello"}, 12, "", "proxy"},
		{"proxy, try", []string{"--noproxy", "", "-x", "http://" + squid.Addr, "--http3", "-w", "%{http_version}", url + "/hello"}, 0, "hello\n2", ""},
		{"Unix domain socket, only", []string{"--unix-socket", filepath.Join(dir, "socket"), "--http3-only", url + "/hello"}, 12, "", "socket"},
		{"blocked port", []string{"--http3-only", "https://127.0.0.1:11211/"}, 9, "", "amplifies"},
		{"blocked address", []string{"--http3-only", "https://169.254.169.254/"}, 9, "", "metadata"},
		{"other family", []string{"-6", "--http3-only", url + "/hello"}, 9, "", ""},
		{"HTTP/1.1", []string{"--http1.1", "--http3", "-w", "%{http_version}", url + "/hello"}, 0, "hello\n1.1", ""},
		{"WARC", []string{"--http3-only", "--warc-file", filepath.Join(dir, "x.warc.gz"), url + "/hello"}, 0, "hello\n", ""},
		{"index of the WARC file", []string{"index", filepath.Join(dir, "x.warc.gz")}, 0, "", "/hello"},
		{"mirror", []string{"mirror", "--http3-only", "--ignore-robots", "--output-dir", filepath.Join(dir, "mirror"), url + "/hello"}, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, messages := fetchHTTP3(s.Cert, c.args...)
			if c.args[0] == "index" || c.args[0] == "mirror" {
				var stdout, stderr bytes.Buffer
				args := append([]string{c.args[0]}, c.args[1:]...)
				if c.args[0] == "mirror" {
					args = append(args, "--cacert", s.Cert.File, "--noproxy", "*")
				}
				code = app.Run(args, strings.NewReader(""), &stdout, &stderr)
				out, messages = stdout.String(), stderr.String()
			}
			if code != c.code || c.out != "" && out != c.out || !strings.Contains(out+messages, c.want) {
				t.Errorf("exit code %d, want %d: %q, %s", code, c.code, out[:min(len(out), 500)], messages)
			}
		})
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Equal(b, large) {
		t.Errorf("file of %d bytes, %v", len(b), err)
	}
	f, err := os.Open(filepath.Join(dir, "x.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || !bytes.Contains(b, []byte("WARC-Protocol: h3\r\n")) {
		t.Errorf("WARC file without h3, %v: %s", err, b)
	}
}

// TestAltSvc learns an alternative service from nginx and uses it.
func TestAltSvc(t *testing.T) {
	alternative := peer.NginxHTTP3(t, peer.HTTP3Options{NoTCP: true})
	alternative.Put("hello", []byte("alternative\n"))
	_, port, _ := strings.Cut(alternative.UDPAddr, ":")
	s := peer.Nginx(t, peer.NginxOptions{HTTP2: true, Cert: alternative.Cert,
		Server: `add_header Alt-Svc 'h3=":` + port + `"; ma=3600';`})
	s.Put("hello", []byte("hello\n"))
	url, file := "https://"+s.TLSAddr+"/hello", filepath.Join(t.TempDir(), "alt-svc")
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"not verified, so nothing is learned", "hello\n", []string{"-k", "--alt-svc", file}},
		{"first request", "hello\n", []string{"--alt-svc", file}},
		{"learned", "alternative\n", []string{"--alt-svc", file}},
		{"without the flag", "hello\n", nil},
		{"unreadable service", "hello\n", []string{"--alt-svc", ""}},
	} {
		if code, out, messages := fetchHTTP3(s.Cert, append(c.args, url)...); code != 0 || out != c.want {
			t.Errorf("%s: exit code %d, %q, %s", c.name, code, out, messages)
		}
	}
	b, err := os.ReadFile(file)
	if want := "h2 127.0.0.1 " + s.TLSAddr[len("127.0.0.1:"):] + " h3 127.0.0.1 " + port + " \""; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("file %q, %v, want %q", b, err, want)
	}
	alternative.Stop()
	if code, out, messages := fetchHTTP3(s.Cert, "--alt-svc", file, url); code != 0 || out != "hello\n" {
		t.Errorf("dead alternative: exit code %d, %q, %s", code, out, messages)
	}
	evil := filepath.Join(t.TempDir(), "evil")
	line := "h2 127.0.0.1 " + s.TLSAddr[len("127.0.0.1:"):] + " h3 169.254.169.254 443 \"20991231 00:00:00\" 0 0\n" +
		"h2 127.0.0.1 " + s.TLSAddr[len("127.0.0.1:"):] + " h3 127.0.0.1 11211 \"20991231 00:00:00\" 0 0\n"
	if err := os.WriteFile(evil, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, messages := fetchHTTP3(s.Cert, "-v", "--alt-svc", evil, url)
	if code != 0 || out != "hello\n" || !strings.Contains(messages, "denied by policy") || strings.Contains(messages, "Trying 169") {
		t.Errorf("denied alternatives: exit code %d, %q, %s", code, out, messages)
	}
}

// TestHTTP3Silent checks that TCP is used if a server receives datagrams and
// does not answer, also for parallel URLs.
func TestHTTP3Silent(t *testing.T) {
	tcp := peer.Nginx(t, peer.NginxOptions{HTTP2: true})
	tcp.Put("hello", []byte("hello\n"))
	silent, err := net.ListenPacket("udp", tcp.TLSAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	args := []string{"--http3", "-Z"}
	for range 20 {
		args = append(args, "https://"+tcp.TLSAddr+"/hello")
	}
	if code, out, messages := fetchHTTP3(tcp.Cert, args...); code != 0 || out != strings.Repeat("hello\n", 20) {
		t.Errorf("exit code %d, %q, %s", code, out, messages)
	}
	if code, _, messages := fetchHTTP3(tcp.Cert, "--http3-only", "--connect-timeout", "0.2", "https://"+tcp.TLSAddr+"/hello"); code != 4 && code != 28 || !strings.Contains(messages, "QUIC handshake") {
		t.Errorf("only HTTP/3: exit code %d, %s", code, messages)
	}
}
