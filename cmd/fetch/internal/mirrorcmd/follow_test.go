package mirrorcmd_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestMirrorLocalhost checks that a mirror of http://localhost/ follows links
// to its own host and port. With the scope "any", pages of this machine may lead
// to other servers of this machine, also by the name localhost.
func TestMirrorLocalhost(t *testing.T) {
	t.Parallel()
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("d/index.html", []byte(`<a href="a.html">a</a> <a href="/d/sub/">s</a>`))
	web.Put("d/a.html", []byte(fmt.Sprintf(`<a href="http://localhost:%d/d/b.html">b</a>`, web.Port)))
	web.Put("d/b.html", []byte("b\n"))
	web.Put("d/sub/c.txt", []byte("c\n")) // the server lists its folder
	other := peer.Nginx(t, peer.NginxOptions{})
	other.Put("index.html", []byte(fmt.Sprintf(`<a href="http://localhost:%d/d/b.html">b</a>`, web.Port)))
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-h", "localhost"}})
	gopher.Put("a.txt", []byte("a\n"))
	gopher.Put("sub/b.txt", []byte("b\n"))
	files := peer.Vsftpd(t, peer.FTPOptions{})
	files.Put("pub/a", []byte("a\n"))
	files.Put("pub/sub/b", []byte("b\n"))
	news := peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}})
	news.Feed(commandtest.NewsItem(1, "local.test"))
	for _, c := range []struct {
		url  string
		want []string
	}{
		{fmt.Sprintf("http://localhost:%d/d/", web.Port), []string{"/d/a.html", "/d/b.html", "/d/sub/c.txt"}},
		{fmt.Sprintf("gopher://localhost:%d/", gopher.Port), []string{"/a.txt", "/sub/b.txt"}},
		{fmt.Sprintf("ftp://localhost:%d/pub/", files.Port), []string{"/pub/a", "/pub/sub/b"}},
		{fmt.Sprintf("nntp://localhost:%d/local.test", news.Port), []string{"/1@test.example"}},
	} {
		dir := t.TempDir()
		for range 2 {
			commandtest.Run(t, 0, "mirror", "--output-dir", dir, c.url)
			found := commandtest.Archived(t, dir)
			for _, want := range c.want {
				if !slices.ContainsFunc(slices.Collect(keys(found)),
					func(name string) bool { return strings.HasSuffix(name, want) }) {
					t.Errorf("%s: no %s in %q", c.url, want, found)
				}
			}
		}
	}
	// A redirect to a folder. nginx sends an absolute URL.
	commandtest.Contains(t, commandtest.Run(t, 0, fmt.Sprintf("http://localhost:%d/d", web.Port)), "a.html")

	dir := t.TempDir()
	commandtest.Run(t, 0, "mirror", "--scope", "any", "--output-dir", dir, "http://"+other.Addr+"/")
	if found := commandtest.Archived(t, dir); len(found) != 2 {
		t.Errorf("mirror with links to another server: %q", found)
	}
	commandtest.Run(t, 0, "verify", dir)
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestWebLeadsToFTP checks redirects and links from http to ftp. They are
// followed from an http page, but not from an https page.
func TestWebLeadsToFTP(t *testing.T) {
	t.Parallel()
	files := peer.Vsftpd(t, peer.FTPOptions{})
	files.Put("pub/a", []byte("of ftp\n"))
	at := "ftp://" + files.Addr + "/pub/a"
	web := peer.Nginx(t, peer.NginxOptions{TLS: true,
		Server: "location /moved { return 302 " + at + "; }\nlocation /smtp { return 302 ftp://127.0.0.1:25/; }\n"})
	web.Put("index.html", []byte(`<a href="`+at+`">a</a>`))
	if got := commandtest.Run(t, 0, "http://"+web.Addr+"/moved"); got != "of ftp\n" {
		t.Errorf("got %q", got)
	}
	commandtest.Run(t, 9, "http://"+web.Addr+"/smtp")
	commandtest.Run(t, 9, "--proto-redir", "=http,https", "http://"+web.Addr+"/moved")
	commandtest.Run(t, 9, "-k", "https://"+web.TLSAddr+"/moved")
	commandtest.Run(t, 0, "-k", "--proto-redir", "+ftp", "https://"+web.TLSAddr+"/moved")
	for _, c := range []struct {
		args []string
		url  string
		want int
	}{
		{nil, "http://" + web.Addr + "/", 1},
		{[]string{"--scope", "host"}, "http://" + web.Addr + "/", 2},
		{[]string{"-k", "--scope", "host"}, "https://" + web.TLSAddr + "/", 1},
	} {
		dir := t.TempDir()
		commandtest.Run(t, 0, append(append([]string{"mirror", "--output-dir", dir}, c.args...), c.url)...)
		if found := commandtest.Archived(t, dir); len(found) != c.want {
			t.Errorf("%q %s: got %q, want %d files", c.args, c.url, found, c.want)
		}
	}
}

// TestRedirectToItself checks that a redirect to the same URL is followed up to
// the limit of --max-redirs, with and without a file to resume.
func TestRedirectToItself(t *testing.T) {
	var mu sync.Mutex
	requests := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests++
		switch {
		case r.URL.Path == "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case r.URL.Path == "/b":
			http.Redirect(w, r, "/a", http.StatusFound)
		case r.URL.Path == "/ready" && requests > 2:
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader("0123456789"))
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	}))
	defer web.Close()
	part := filepath.Join(t.TempDir(), "part")
	for _, c := range []struct {
		name     string
		args     []string
		path     string
		code     int
		requests int
		out      string
	}{
		{"two redirects", nil, "/ready", 0, 3, "0123456789"},
		{"resumed", []string{"-C", "-", "-o", part}, "/ready", 0, 3, ""},
		{"resumed at an offset", []string{"-C", "4"}, "/ready", 0, 3, "456789"},
		{"limit of one redirect", []string{"--max-redirs", "1"}, "/ready", 10, 2, ""},
		{"endless redirects", nil, "/never", 10, 11, ""},
		{"loop of two URLs", nil, "/a", 10, 2, ""},
		{"loop of two URLs, resumed at an offset", []string{"-C", "4"}, "/a", 10, 2, ""},
	} {
		if err := os.WriteFile(part, []byte("0123"), 0o666); err != nil {
			t.Fatal(err)
		}
		requests = 0
		if got := commandtest.Run(t, c.code, append(c.args, web.URL+c.path)...); got != c.out || requests != c.requests {
			t.Errorf("%s: got %q after %d requests, want %q after %d", c.name, got, requests, c.out, c.requests)
		}
		if text, err := os.ReadFile(part); c.name == "resumed" && string(text) != "0123456789" {
			t.Errorf("%s: file contents %q, %v", c.name, text, err)
		}
	}
}

// TestHostOfAnotherOrigin checks that the Host field of -H is sent only to the
// first server. At a redirect it does not select cookies for another server.
func TestHostOfAnotherOrigin(t *testing.T) {
	var fields []string
	record := func(w http.ResponseWriter, r *http.Request) {
		fields = append(fields, r.Host+" "+r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "of", Value: "evil"})
	}
	other := httptest.NewServer(http.HandlerFunc(record))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record(w, r)
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer web.Close()
	jar := filepath.Join(t.TempDir(), "jar")
	if err := os.WriteFile(jar, []byte("# Netscape HTTP Cookie File\nbank.example\tFALSE\t/\tFALSE\t0\tsid\tsecret\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	commandtest.Run(t, 0, "-b", jar, "-c", jar, "-H", "Host: bank.example", web.URL)
	if want := []string{"bank.example sid=secret", other.Listener.Addr().String() + " "}; !slices.Equal(fields, want) {
		t.Errorf("got Host and Cookie fields %q, want %q", fields, want)
	}
}

// TestGatewayLeads checks that pages from a local gateway cannot lead to
// loopback or private addresses. The test covers redirects, links of a mirror,
// and later runs of the mirror.
func TestGatewayLeads(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the internal server received a request")
	}))
	defer inside.Close()
	var requests []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.RequestURI)
		switch {
		case strings.HasSuffix(r.RequestURI, "redir"):
			w.Header().Set("Location", inside.URL)
			w.WriteHeader(http.StatusFound)
		case strings.HasSuffix(r.RequestURI, ".html"):
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<a href="%s/">x</a><a href="http://10.0.0.1/">y</a><a href="ftp://evil.example/pub/redir">z</a>`, inside.URL)
		default:
			http.NotFound(w, r)
		}
	}))
	defer gateway.Close()
	for _, by := range []string{"--gateway=ftp=" + gateway.URL, "--proxy=" + gateway.URL} {
		commandtest.Run(t, 9, by, "--proto-redir", "+http", "--noproxy", "127.0.0.1", "ftp://evil.example/pub/redir")
		dir := t.TempDir()
		for range 2 {
			requests = nil
			commandtest.Run(t, 0, "mirror", "--delay", "0", "--warc", "--scope", "any", "--output-dir", dir, by,
				"--noproxy", "127.0.0.1,10.0.0.1", "ftp://evil.example/pub/a.html")
			if len(requests) < 2 {
				t.Errorf("%s: requests to the gateway: %q", by, requests)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "crawl.jsonl"))
		if n := strings.Count(string(text), `"excluded"`); err != nil || n < 3 {
			t.Errorf("%s: %d excluded URLs, %v: %s", by, n, err, text)
		}
		if text := records(t, dir); !strings.Contains(text, "ftp://evil.example/pub/a.html") ||
			strings.Contains(text, "WARC-IP-Address") {
			t.Errorf("%s: unexpected or missing fields in the records: %s", by, text)
		}
		commandtest.Contains(t, commandtest.Run(t, 0, "--archive", dir, "ftp://evil.example/pub/a.html"), "10.0.0.1")
		commandtest.Run(t, 0, "--archive", dir, "ftp://evil.example/pub/redir")
	}
}

// records returns the text of the WARC files in an archive.
func records(t *testing.T, dir string) (text string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text += commandtest.Uncompressed(t, name)
	}
	return text
}

// TestMirrorNamesFlags checks that the summary of a mirror names the flags that
// allow URLs which the policy has denied.
func TestMirrorNamesFlags(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("index.html", []byte(`<a href="http://127.0.0.1:25/a">a</a><a href="http://127.0.0.1:25/b">b</a><a href="gopher://127.0.0.1/">g</a>`))
	var out, stderr bytes.Buffer
	code := app.Run([]string{"--no-config", "mirror", "--scope", "host", "--output-dir", t.TempDir(),
		"http://" + web.Addr + "/"}, strings.NewReader(""), &out, &stderr)
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	commandtest.Contains(t, stderr.String(), "fetch: denied by policy: 2; to allow: --allow-port http:25:any\n",
		"fetch: denied by policy: 1; to allow: --proto-redir +gopher\n")
}
