package clientflags

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/doh"
	"github.com/anyurl/fetch/uri"
)

// newRecords returns a resolver whose server answers each query with one HTTPS
// record, and a counter of its queries. The target of the record may be ".".
func newRecords(t *testing.T, target string) (*doh.Resolver, *atomic.Int32) {
	queries := new(atomic.Int32)
	record := dnsmessage.HTTPSResource{SVCBResource: dnsmessage.SVCBResource{Priority: 1, Target: dnsmessage.MustNewName(target)}}
	record.SetParam(dnsmessage.SVCParamALPN, []byte("\x02h3"))
	record.SetParam(dnsmessage.SVCParamECH, []byte("keys"))
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries.Add(1)
		query, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil {
			t.Error(err)
			return
		}
		m.Header.Response = true
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeHTTPS, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &record,
		}}
		packed, err := m.Pack()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(packed)
	}))
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	r, err := doh.New(doh.Options{URL: s.URL + "/dns-query", TLS: &tls.Config{RootCAs: roots}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, queries
}

// TestDiscover checks that the names of servers behind a proxy are not sent to
// the DNS server.
func TestDiscover(t *testing.T) {
	for proxy, queries := range map[string]int32{"": 1, "http://192.0.2.1:3128": 0, "socks5h://192.0.2.1": 0} {
		records, n := newRecords(t, ".")
		c := &OpenClient{resolver: records, proxy: func(to fetch.Target) (fetch.Proxy, error) {
			if proxy == "" || to.Address() != "secret.test:443" {
				return fetch.Proxy{}, nil
			}
			return fetch.Proxy{URL: uri.MustParse(proxy)}, nil
		}}
		place := fetch.Target{Scheme: "https", Host: "secret.test", Port: 443}
		if all := c.discover(t.Context(), "secret.test", 443, place); len(all) != int(queries) || n.Load() != queries {
			t.Errorf("proxy %q: %q after %d queries", proxy, all, n.Load())
		}
	}
}

// TestDiscoverSocket checks that the names of servers behind a Unix domain socket
// are not sent to the DNS server.
func TestDiscoverSocket(t *testing.T) {
	for _, socket := range []string{"", "/run/server"} {
		if discover := new(OpenClient).discoverer(&Flags{route: routeFlags{socket: socket}}); (discover == nil) != (socket != "") {
			t.Errorf("socket %q: discovers %t", socket, discover != nil)
		}
	}
}

// TestDiscoverFinalDot checks that a record leads to the address of the URL, which
// has a final dot.
func TestDiscoverFinalDot(t *testing.T) {
	records, _ := newRecords(t, ".")
	c := &OpenClient{resolver: records, proxy: func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{}, nil }}
	if all := c.discover(t.Context(), "a.test.", 443, fetch.Target{Scheme: "https", Host: "a.test.", Port: 443}); len(all) != 1 || all[0] != "a.test.:443" {
		t.Errorf("got %q", all)
	}
}

// TestECHConfigs checks that keys for another endpoint are reported.
func TestECHConfigs(t *testing.T) {
	for _, c := range []struct{ target, endpoint, want, err string }{
		{".", "a.test:443", "keys", ""},
		{"b.test.", "b.test:443", "keys", ""},
		{"b.test.", "a.test:443", "", "has keys for b.test:443, and none for a.test:443"},
		{".", "a.test.:443", "keys", ""},
		{"b.test.", "a.test.:443", "", "has keys for b.test:443, and none for a.test:443"},
	} {
		records, _ := newRecords(t, c.target)
		list, err := (&OpenClient{resolver: records}).echConfigs(t.Context(), "a.test", 443, c.endpoint)
		if string(list) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("target %s, endpoint %s: got %q, %v", c.target, c.endpoint, list, err)
		}
	}
}
