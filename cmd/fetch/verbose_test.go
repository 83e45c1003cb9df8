package main

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// verboseServer returns the handler of a server with redirects, errors and
// challenges.
func verboseServer() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello\n") })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/x?token=s3cret")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusNotFound) })
	mux.HandleFunc("/private", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "s3cret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Set-Cookie", "id=s3cret")
		io.WriteString(w, "hello\n")
	})
	return mux
}

// TestVerbose checks the output of -v: the connection, TLS, and the heads of all
// hops, errors and challenges.
func TestVerbose(t *testing.T) {
	plain := httptest.NewServer(verboseServer())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(verboseServer())
	secure.EnableHTTP2 = true
	secure.StartTLS()
	defer secure.Close()
	old := httptest.NewUnstartedServer(verboseServer())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
	old.StartTLS()
	defer old.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o666); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())
	certificate := []string{"* Server certificate:\n*  subject: O=Acme Co\n*  start date: Jan  1 00:00:00 1970 GMT\n" +
		"*  expire date: Jan 29 16:00:00 2084 GMT\n*  issuer: O=Acme Co\n"}
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"two hops", []string{plain.URL + "/moved"}, 0, []string{
			"*   Trying 127.0.0.1:" + port + "...\n* Connected to 127.0.0.1 (127.0.0.1) port " + port + "\n> GET /moved HTTP/1.1\n> Host: ",
			"\n< HTTP/1.1 302 Found\n", "< Location: /x?token=***\n", "* redirect to " + plain.URL + "/x?token=***\n",
			"> GET /x?token=*** HTTP/1.1\n", "\n< HTTP/1.1 200 OK\n"}},
		{"two requests on one connection", []string{plain.URL, plain.URL}, 0, []string{
			"\n< \n* Re-using the connection to 127.0.0.1:" + port + "\n> GET / HTTP/1.1\n"}},
		{"two HTTP/2 requests on one connection", []string{"-k", secure.URL, secure.URL}, 0, []string{
			"\n< \n* Re-using the connection to " + secure.Listener.Addr().String() + "\n* using HTTP/2\n"}},
		{"error", []string{plain.URL + "/none"}, 8, []string{"> GET /none HTTP/1.1\n", "\n> \n< HTTP/1.1 404 Not Found\n"}},
		{"challenge", []string{"--anyauth", "-u", "u:s3cret", plain.URL + "/private"}, 0, []string{
			"> GET /private HTTP/1.1\n", "\n< HTTP/1.1 401 Unauthorized\n", "< Www-Authenticate: Basic realm=\"x\"\n",
			"> Authorization: ***\n", "\n< HTTP/1.1 200 OK\n", "< Set-Cookie: ***\n"}},
		{"connection refused", []string{"--retry", "0", "http://" + commandtest.ClosedPort(t) + "/"}, 4,
			[]string{"*   Trying 127.0.0.1:", "* connect to 127.0.0.1 port ", " failed: ", "connection refused\n"}},
		{"HTTP/2", []string{"--cacert", ca, secure.URL + "/private", "-H", "X-Auth-Token: s3cret", "--no-fail"}, 0, append(certificate,
			"* ALPN: offers h2,http/1.1\n* SSL connection using TLSv1.3 / TLS_", "\n* ALPN: server accepted h2\n",
			"*  SSL certificate verify ok.\n", "* using HTTP/2\n* [HTTP/2] [:authority: "+secure.Listener.Addr().String()+"]\n",
			"* [HTTP/2] [:method: GET]\n", "* [HTTP/2] [x-auth-token: ***]\n", "> GET /private HTTP/2\n> host: ", "> x-auth-token: ***\n",
			"< HTTP/2 401\n", "< www-authenticate: Basic realm=\"x\"\n")},
		{"TLS 1.2", []string{"--cacert", ca, old.URL}, 0, []string{"* SSL connection using TLSv1.2 / TLS_ECDHE",
			"*  SSL certificate verify ok.\n", "> GET / HTTP/1.1\n", "< HTTP/1.1 200 OK\n"}},
		{"unverified certificate", []string{"-k", secure.URL}, 0, append(certificate,
			"*  SSL certificate verify result: x509: certificate signed by unknown authority, continuing anyway.\n")},
		{"rejected certificate", []string{secure.URL}, 5, append(certificate,
			"*  SSL certificate problem: x509: certificate signed by unknown authority\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, stderr bytes.Buffer
			if code := app.Run(append([]string{"--no-config", "-v"}, c.args...), strings.NewReader(""), &out, &stderr); code != c.code {
				t.Errorf("got exit code %d, want %d", code, c.code)
			}
			contains(t, stderr.String(), c.want...)
			if strings.Contains(stderr.String(), "s3cret") {
				t.Errorf("-v prints a secret:\n%s", &stderr)
			}
		})
	}
}

// TestVerboseProxy checks that -v prints the CONNECT request, a challenge of
// the proxy and the messages in the tunnel.
func TestVerboseProxy(t *testing.T) {
	s := httptest.NewTLSServer(verboseServer())
	defer s.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") == "" {
			w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		up, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			panic(err)
		}
		w.WriteHeader(http.StatusOK)
		down, read, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		go func() { io.Copy(up, read); up.Close() }() // read may already contain the start of the TLS handshake
		io.Copy(down, up)
		down.Close()
	}))
	defer proxy.Close()
	var out, stderr bytes.Buffer
	args := []string{"--no-config", "-v", "-k", "--proxy-anyauth", "-U", "u:s3cret", "-x", proxy.URL, s.URL + "/"}
	if code := app.Run(args, strings.NewReader(""), &out, &stderr); code != 0 || out.String() != "hello\n" {
		t.Errorf("got exit code %d and output %q", code, &out)
	}
	text := stderr.String()
	connect := "> CONNECT " + s.Listener.Addr().String() + " HTTP/1.1\n"
	contains(t, text, "* Establish a tunnel to ", connect, "< HTTP/1.1 407 Proxy Authentication Required\n",
		"< Proxy-Authenticate: Basic realm=\"proxy\"\n", "> Proxy-Authorization: ***\n", "\n< \n* The tunnel to ",
		"* ALPN: offers ", "> GET / HTTP/1.1\n")
	if strings.Count(text, connect) != 2 || strings.Contains(text, "s3cret") {
		t.Errorf("want two CONNECT requests and no secret:\n%s", text)
	}
}
