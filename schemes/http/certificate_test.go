package http_test

import (
	"crypto/tls"
	"crypto/x509"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/http"
)

// TestClientCertificate checks that a client certificate is not sent to another
// server to which a redirect or a link leads, with HTTP/1 and HTTP/2.
func TestClientCertificate(t *testing.T) {
	other := certificateServer(t, "")
	here := certificateServer(t, other.URL)
	roots := x509.NewCertPool()
	roots.AddCert(here.Certificate())
	mine := here.TLS.Certificates[0]
	for _, http1 := range []bool{true, false} {
		for _, c := range []struct{ name, url, from, want string }{
			{"entered", here.URL + "/who", "", "known"},
			{"redirect within the server", here.URL + "/self", "", "known"},
			{"redirect to another server", here.URL + "/away", "", "unknown"},
			{"redirect to another server and back", here.URL + "/back", "", "unknown"},
			{"link of another server", other.URL + "/who", here.URL, "unknown"},
		} {
			client := schemetest.NewClient(t, http.Schemes(http.Options{HTTP1: http1}), func(o *fetch.Options) {
				o.TLS = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{mine}}
			})
			req := schemetest.NewRequest(t, c.url)
			if c.from != "" {
				req.From = &fetch.Source{URL: schemetest.NewRequest(t, c.from).URL}
			}
			if _, got, err := schemetest.ReadRequest(t, client, req); got != c.want || err != nil {
				t.Errorf("%s, only HTTP/1: %v: got %q, %v", c.name, http1, got, err)
			}
		}
	}
}

// certificateServer starts a server that requests client certificates. The path
// /away leads to the server other, and /back also back from there.
func certificateServer(t *testing.T, other string) *httptest.Server {
	var s *httptest.Server
	s = httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		switch r.URL.Path {
		case "/self":
			nethttp.Redirect(w, r, "/who", nethttp.StatusFound)
		case "/away":
			nethttp.Redirect(w, r, other+"/who", nethttp.StatusFound)
		case "/back":
			nethttp.Redirect(w, r, other+"/to/"+strings.TrimPrefix(s.URL, "https://"), nethttp.StatusFound)
		default:
			if back, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
				nethttp.Redirect(w, r, "https://"+back+"/who", nethttp.StatusFound)
				return
			}
			answer := "unknown"
			if len(r.TLS.PeerCertificates) > 0 {
				answer = "known"
			}
			w.Write([]byte(answer))
		}
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// realm is a Negotiator with one server.
type realm struct{ http.Negotiator }

func (realm) Servers() []string { return []string{"kdc.test:88"} }

// TestNegotiatorServers checks that all schemes connect to the servers of the
// Negotiator, which may have private addresses.
func TestNegotiatorServers(t *testing.T) {
	for _, s := range http.Schemes(http.Options{Negotiator: realm{}}) {
		if len(s.Trust) != 1 {
			t.Errorf("%s: got %q", s.Name, s.Trust)
		}
	}
}

// TestClientCertificateOfSession checks that a link of another server does not resume
// a TLS session in which the server has received the client certificate.
func TestClientCertificateOfSession(t *testing.T) {
	s := certificateServer(t, "")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	mine := s.TLS.Certificates[0]
	for _, http1 := range []bool{true, false} {
		client := schemetest.NewClient(t, http.Schemes(http.Options{HTTP1: http1}), func(o *fetch.Options) {
			o.TLS = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{mine}, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
		})
		if _, got, err := schemetest.ReadRequest(t, client, schemetest.NewRequest(t, s.URL+"/who")); got != "known" || err != nil {
			t.Errorf("entered, only HTTP/1: %v: got %q, %v", http1, got, err)
		}
		req := schemetest.NewRequest(t, s.URL+"/who")
		req.From = &fetch.Source{URL: schemetest.NewRequest(t, "https://127.0.0.1:1/").URL}
		if _, got, err := schemetest.ReadRequest(t, client, req); got != "unknown" || err != nil {
			t.Errorf("link of another server, only HTTP/1: %v: got %q, %v", http1, got, err)
		}
	}
}
