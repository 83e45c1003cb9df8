package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestSameOriginRedirect checks that a redirect to the same origin uses the
// connection of the first request, and that a later request for a URL that the
// user entered uses it too.
func TestSameOriginRedirect(t *testing.T) {
	for _, protocol := range []string{"http", "http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			var conns atomic.Int32
			mux := nethttp.NewServeMux()
			mux.Handle("/old", nethttp.RedirectHandler("/new", nethttp.StatusFound))
			mux.HandleFunc("/new", func(w nethttp.ResponseWriter, r *nethttp.Request) { io.WriteString(w, r.Proto) })
			server := httptest.NewUnstartedServer(mux)
			server.Config.ConnState = func(_ net.Conn, s nethttp.ConnState) {
				if s == nethttp.StateNew {
					conns.Add(1)
				}
			}
			trusted := x509.NewCertPool()
			if protocol == "http" {
				server.Start()
			} else {
				server.EnableHTTP2 = protocol == "h2"
				server.StartTLS()
				trusted.AddCert(server.Certificate())
			}
			defer server.Close()
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: trusted}}, http.Schemes(http.Options{})...)
			defer client.Close()
			for _, path := range []string{"/old", "/new", "/old"} {
				_, body, err := get(t, client, newRequest(server.URL+path))
				if err != nil || body != map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[protocol == "h2"] {
					t.Errorf("%s: got %q, %v", path, body, err)
				}
			}
			if n := conns.Load(); n != 1 {
				t.Errorf("%d connections, want 1", n)
			}
		})
	}
}
