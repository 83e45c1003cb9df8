package peer_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestNginx(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{
		HTTP2:  true,
		IPv6:   true,
		Server: "location = /teapot { return 418 teapot; }\n",
	})
	s.Put("sub/motd.txt", []byte("hello\n"))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.Cert.Pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()

	for _, test := range []struct {
		name, url, proto, body string
		code                   int
	}{
		{"plain", "http://" + s.Addr + "/sub/motd.txt", "HTTP/1.1", "hello\n", 200},
		{"tls and http2", "https://" + s.TLSAddr + "/sub/motd.txt", "HTTP/2.0", "hello\n", 200},
		{"ipv6", strings.Replace("http://"+s.Addr+"/sub/motd.txt", "127.0.0.1", "[::1]", 1), "HTTP/1.1", "hello\n", 200},
		{"directory", "http://" + s.Addr + "/sub/", "HTTP/1.1", `<a href="motd.txt">`, 200},
		{"further directive", "http://" + s.Addr + "/teapot", "HTTP/1.1", "teapot", 418},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, body := get(t, transport, test.url)
			if resp.StatusCode != test.code || resp.Proto != test.proto || !strings.Contains(body, test.body) {
				t.Errorf("%s: got %s %d %q, want %s %d %q", test.url,
					resp.Proto, resp.StatusCode, body, test.proto, test.code, test.body)
			}
		})
	}
}

func TestNginxTLSWithoutHTTP2(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{TLS: true})
	s.Put("motd.txt", []byte("hello\n"))
	out := curl(t, "--http2", "--cacert", s.Cert.File, "-w", "%{http_version}", "https://localhost:"+portOf(s.TLSAddr)+"/motd.txt")
	if want := "hello\n1.1"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestNginxRate(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{Rate: "64k"})
	s.Put("big", bytes.Repeat([]byte("x"), 128<<10))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	began := time.Now()
	_, body := get(t, transport, "http://"+s.Addr+"/big")
	if took := time.Since(began); len(body) != 128<<10 || took < 500*time.Millisecond {
		t.Errorf("%d bytes in %v, want 131072 in a second at least", len(body), took)
	}
}

func get(t *testing.T, transport *http.Transport, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
