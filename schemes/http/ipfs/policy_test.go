package ipfs

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

// TestPolicy checks who may lead to ipfs URLs, and that the gateway is an address
// of the configuration.
func TestPolicy(t *testing.T) {
	s := newFake(t)
	leaf := s.raw("abc")
	page := url(s.dir("x", leaf), "/")
	public := netip.MustParseAddr("8.8.8.8")
	for _, test := range []struct {
		name   string
		policy fetch.Policy
		from   *fetch.Source
		want   string
	}{
		{"typed", fetch.Typed(), nil, "document of 3 bytes"},
		{"gateway on this machine", fetch.Public(), nil, "document of 3 bytes"},
		{"listing of ipfs", fetch.Typed(), &fetch.Source{URL: uri.MustParse(page), Peer: public}, "document of 3 bytes"},
		{"page", fetch.Typed(), &fetch.Source{URL: uri.MustParse("http://example.org/"), Peer: public}, "policy-redirect"},
		{"page that may lead to all schemes", fetch.Policy{Redirects: []string{"*"}}, &fetch.Source{URL: uri.MustParse("http://example.org/"), Peer: public}, "policy-redirect"},
		{"host that is not listed", fetch.Allowlist("example.org"), nil, "policy-address"},
		{"listed identifier", fetch.Allowlist(leaf.String()), nil, "document of 3 bytes"},
		{"scheme that is not allowed", fetch.Policy{Schemes: []string{"http"}}, nil, "policy-redirect"},
		{"blocked port", func() fetch.Policy {
			p := fetch.Typed()
			p.Blocked = func(to netip.AddrPort) bool { return strings.HasSuffix(s.URL, to.String()) }
			return p
		}(), nil, "policy-address"},
	} {
		c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}), func(o *fetch.Options) { o.Policy = test.policy })
		req := schemetest.NewRequest(t, url(leaf, ""))
		req.From = test.from
		resp, err := c.Do(t.Context(), req)
		if got := schemetest.Summary(resp, err); got != test.want {
			t.Errorf("%s: %s, want %s (%v)", test.name, got, test.want, err)
		}
	}
}

// TestProxy reaches the gateway through a proxy.
func TestProxy(t *testing.T) {
	var hosts []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Method+" "+r.Host)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	c := schemetest.NewClient(t, Schemes(Options{Gateway: "http://gateway.example:8080"}), func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{URL: uri.MustParse(proxy.URL)}, nil }
	})
	b := &blocks{}
	if _, err := c.Get(t.Context(), url(b.raw("abc"), "")); err == nil || len(hosts) != 1 || hosts[0] != "CONNECT gateway.example:8080" {
		t.Errorf("requests %q, %v", hosts, err)
	}
}

// TestIdentity checks that the gateway does not get the client certificate of the
// user, which is intended for the servers of URLs.
func TestIdentity(t *testing.T) {
	b := &blocks{}
	leaf := b.raw("abc")
	known := true
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known = len(r.TLS.PeerCertificates) > 0
		w.Header().Set("Content-Type", carMedia)
		w.Write(b.car(leaf))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}), func(o *fetch.Options) {
		o.TLS = &tls.Config{RootCAs: roots, Certificates: s.TLS.Certificates}
	})
	if _, text, err := schemetest.Read(t, c, url(leaf, "")); text != "abc" || err != nil || known {
		t.Errorf("%q, %v; the gateway got a certificate: %v", text, err, known)
	}
}
