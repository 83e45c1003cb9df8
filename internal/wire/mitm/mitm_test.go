package mitm_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/wire/mitm"
)

// start runs a Server and returns its address.
func start(t *testing.T, s *mitm.Server) (address string, ca *mitm.CA) {
	t.Helper()
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.CA, s.ErrorLog = ca, log.New(io.Discard, "", 0)
	if s.Handler == nil {
		s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, mitm.ProxyAuthorization(r))
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, time.Minute) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), ca
}

// dial sends text to the proxy and returns the connection.
func dial(t *testing.T, address, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// status reads a response and returns its code and the body.
func status(t *testing.T, r *bufio.Reader) (int, string) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// TestRequests sends requests outside of tunnels.
func TestRequests(t *testing.T) {
	var mu sync.Mutex
	var refused []string
	address, _ := start(t, &mitm.Server{
		Refused: func(_ *http.Request, reason string) { mu.Lock(); defer mu.Unlock(); refused = append(refused, reason) },
		Tunnel: func(r *http.Request) error {
			if strings.HasPrefix(r.Host, "denied.") {
				return errors.New("rule of the test")
			}
			return nil
		},
	})
	for _, c := range []struct {
		about, request string
		code           int
		want           string
	}{
		{"a URL", "GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic abc\r\n\r\n", 200, "GET http://a.test/x?y Basic abc"},
		{"HTTP/1.0", "GET http://a.test/x HTTP/1.0\r\n\r\n", 200, "GET http://a.test/x "},
		{"another scheme", "GET ftp://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, "only requests for http and https"},
		{"the proxy itself", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 404, "no pages of its own"},
		{"a WebSocket", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n", 501, "WebSocket"},
		{"CONNECT without a port", "CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, ""},
		{"CONNECT that is refused", "CONNECT denied.test:443 HTTP/1.1\r\nHost: denied.test\r\n\r\n", 403, "rule of the test"},
		{"the form *", "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, ""},
		{"a header that is too large", "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n", 431, ""},
		{"two lengths", "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""},
		{"no HTTP", "\x16\x03\x01\x00\x05hello\r\n\r\n", 400, ""},
	} {
		_, r := dial(t, address, c.request)
		if code, text := status(t, r); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.about, code, text, c.code, c.want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(refused, "\n"); !strings.Contains(all, "WebSocket") || !strings.Contains(all, "rule of the test") {
		t.Errorf("reported: %q", refused)
	}
}

// tunnel opens a tunnel with TLS.
func tunnel(t *testing.T, address string, ca *mitm.CA, host string, protocols ...string) *tls.Conn {
	t.Helper()
	c, r := dial(t, address, "CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\nProxy-Authorization: Basic xyz\r\n\r\n")
	if resp, err := http.ReadResponse(r, &http.Request{Method: "CONNECT"}); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM())
	name, _, _ := net.SplitHostPort(host)
	secure := tls.Client(c, &tls.Config{RootCAs: roots, ServerName: name, NextProtos: protocols})
	if err := secure.Handshake(); err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	return secure
}

// TestTunnels sends requests inside of tunnels.
func TestTunnels(t *testing.T) {
	address, ca := start(t, &mitm.Server{})
	for _, c := range []struct {
		about, host, request string
		code                 int
		want                 string
	}{
		{"the authorization of CONNECT", "a.test:443", "GET /x?y HTTP/1.1\r\nHost: a.test\r\n\r\n", 200, "GET https://a.test/x?y Basic xyz"},
		{"another port", "a.test:8443", "GET / HTTP/1.1\r\nHost: a.test:8443\r\n\r\n", 200, "GET https://a.test:8443/ "},
		{"an IPv4 address", "127.0.0.1:443", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200, "GET https://127.0.0.1/ "},
		{"an IPv6 address", "[::1]:443", "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", 200, "GET https://[::1]/ "},
		{"another host", "a.test:443", "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", 421, "another host"},
		{"the port of another service", "a.test:443", "GET / HTTP/1.1\r\nHost: a.test:25\r\n\r\n", 421, "another host"},
		{"a URL of another host", "a.test:443", "GET https://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n", 400, "no path"},
		{"a tunnel in a tunnel", "a.test:443", "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n", 400, "inside a tunnel"},
		{"a WebSocket", "a.test:443", "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 501, "WebSocket"},
	} {
		secure := tunnel(t, address, ca, c.host, "http/1.1")
		io.WriteString(secure, c.request)
		if code, text := status(t, bufio.NewReader(secure)); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.about, code, text, c.code, c.want)
		}
	}
	if got := tunnel(t, address, ca, "a.test:443", "h2", "http/1.1").ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("negotiated %q", got)
	}
	_, r := dial(t, address, "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\nGET /plain HTTP/1.1\r\nHost: a.test\r\n\r\n")
	if _, err := http.ReadResponse(r, &http.Request{Method: "CONNECT"}); err != nil {
		t.Fatal(err)
	}
	if code, text := status(t, r); code != 200 || !strings.HasPrefix(text, "GET http://a.test/plain") {
		t.Errorf("a tunnel without TLS: %d %q", code, text)
	}
}

// TestHopFields checks that fields for the connection and for the proxy do not
// reach the Handler.
func TestHopFields(t *testing.T) {
	address, _ := start(t, &mitm.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			fmt.Fprintln(w, name)
		}
	})})
	_, r := dial(t, address, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n"+
		"Proxy-Connection: 1\r\nProxy-Authorization: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nX-End: 1\r\n\r\n")
	if code, text := status(t, r); code != 200 || text != "X-End\n" {
		t.Errorf("%d %q", code, text)
	}
}

// TestAuthorize checks that all requests need the permission.
func TestAuthorize(t *testing.T) {
	address, _ := start(t, &mitm.Server{Authorize: func(r *http.Request) bool { return mitm.ProxyAuthorization(r) == "yes" }})
	for request, want := range map[string]int{
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n":                             407,
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: yes\r\n\r\n": 200,
		"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n":                         407,
	} {
		_, r := dial(t, address, request)
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != want || (want == 407) != (resp.Header.Get("Proxy-Authenticate") != "") {
			t.Errorf("%q: %v %v", request, resp, err)
		}
	}
}

// TestConnections checks that clients which open connections without sending
// requests do not exhaust the proxy, and that they do not delay its end.
func TestConnections(t *testing.T) {
	address, _ := start(t, &mitm.Server{MaxConns: 4})
	for range 2 { // silent clients
		dial(t, address, "")
	}
	silent, r := dial(t, address, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n")
	if _, err := http.ReadResponse(r, &http.Request{Method: "CONNECT"}); err != nil {
		t.Fatal(err)
	}
	last, _ := dial(t, address, "")
	c, err := net.Dial("tcp", address) // one too many
	if err == nil {
		c.SetDeadline(time.Now().Add(time.Minute))
		if _, err = c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("a fifth connection was accepted: %v", err)
		}
		c.Close()
	}
	last.Close()
	silent.Close()
}

// TestCAFile checks the file of a CA.
func TestCAFile(t *testing.T) {
	now := time.Now()
	name := filepath.Join(t.TempDir(), "new", "ca.pem")
	var names sync.Map
	var starts sync.WaitGroup
	for range 8 { // several processes start at the same time
		starts.Go(func() {
			ca, err := mitm.OpenCA(name, now)
			if err != nil {
				t.Error(err)
				return
			}
			names.Store(string(ca.PEM()), true)
		})
	}
	starts.Wait()
	count := 0
	names.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d CAs", count)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if files, _ := os.ReadDir(filepath.Dir(name)); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
	for _, c := range []struct {
		about  string
		change func() error
		now    time.Time
		want   string
	}{
		{"an expired certificate", func() error { return nil }, now.AddDate(4, 0, 0), "valid until"},
		{"other users may read the key", func() error { return os.Chmod(name, 0o640) }, now, "0600"},
		{"no PEM", func() error { os.Chmod(name, 0o600); return os.WriteFile(name, []byte("x"), 0o600) }, now, "PEM"},
		{"a directory", func() error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o700)) }, now, "regular file"},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if _, err := mitm.OpenCA(name, c.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.about, err)
		}
	}
}
