package ipfs

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	web "github.com/anyurl/fetch/schemes/http"
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

// An elsewhere is HTTP/3 with alternative services at other addresses.
type elsewhere struct{ web.HTTP3 }

func (elsewhere) Addresses(context.Context, string, uint16, string) []string {
	return []string{"8.8.8.8:443", "other.test:443"}
}
func (elsewhere) Only() bool               { return false }
func (elsewhere) HeadStart() time.Duration { return time.Minute }

// TestAlternatives checks that an alternative service does not replace the gateway.
func TestAlternatives(t *testing.T) {
	f := newFake(t)
	leaf := f.raw("abc")
	s := httptest.NewTLSServer(f.Config.Handler)
	defer s.Close()
	var mu sync.Mutex
	var others []string
	c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL, HTTP: web.Options{HTTP3: elsewhere{}}}), func(o *fetch.Options) {
		o.TLS = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
		o.Resolver = fixed{netip.MustParseAddr("8.8.4.4")}
		o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			if !strings.HasSuffix(s.URL, to.String()) {
				mu.Lock()
				defer mu.Unlock()
				others = append(others, network+" "+to.String())
				return nil, fetch.Connect
			}
			return new(net.Dialer).DialContext(ctx, network, to.String())
		}
	})
	if got := schemetest.Summary(c.Do(t.Context(), schemetest.NewRequest(t, url(leaf, "")))); got != "document of 3 bytes" || len(others) > 0 {
		t.Errorf("%s, connections to %q", got, others)
	}
}

// An onlyHTTP3 is HTTP/3 without TCP.
type onlyHTTP3 struct{ elsewhere }

func (onlyHTTP3) Addresses(_ context.Context, _ string, _ uint16, own string) []string {
	return []string{own}
}
func (onlyHTTP3) Only() bool { return true }

// TestPrivateGateway checks that the gateway may have a private address for HTTP/3
// too.
func TestPrivateGateway(t *testing.T) {
	var dialed []string
	c := schemetest.NewClient(t, Schemes(Options{Gateway: "https://10.0.0.1:8443", HTTP: web.Options{HTTP3: onlyHTTP3{}}}), func(o *fetch.Options) {
		o.Dial = func(_ context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			dialed = append(dialed, network+" "+to.String())
			return nil, fetch.Connect
		}
	})
	b := &blocks{}
	_, err := c.Get(t.Context(), url(b.raw("abc"), ""))
	if fetch.FaultOf(err) != fetch.Connect || len(dialed) != 1 || dialed[0] != "udp 10.0.0.1:8443" {
		t.Errorf("connections to %q, %v", dialed, err)
	}
}

// A fixed resolves every name to one address.
type fixed struct{ addr netip.Addr }

func (f fixed) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{f.addr}, nil
}

// TestSecrets checks that the gateway gets no secret header fields, logins and
// client certificates of the user.
func TestSecrets(t *testing.T) {
	f := newFake(t)
	leaf := f.raw("abc")
	s := httptest.NewUnstartedServer(f.Config.Handler)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	defer s.Close()
	for _, test := range []struct {
		name string
		code int // of the gateway, or 0
		want string
	}{
		{"header fields and certificate", 0, "document of 3 bytes"},
		{"login required", http.StatusUnauthorized, "auth"},
	} {
		var sent []string
		f.onRaw = func(w http.ResponseWriter, r *http.Request, c cid) {
			for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "X-Note"} {
				if r.Header.Get(name) != "" {
					sent = append(sent, name)
				}
			}
			if len(r.TLS.PeerCertificates) > 0 {
				sent = append(sent, "certificate")
			}
			if test.code != 0 {
				w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
				w.WriteHeader(test.code)
				return
			}
			f.serve(w, rawMedia, c)
		}
		c := schemetest.NewClient(t, Schemes(Options{Gateway: s.URL}), func(o *fetch.Options) {
			o.TLS = &tls.Config{InsecureSkipVerify: true, Certificates: s.TLS.Certificates}
			o.Login = func(context.Context, fetch.Challenge) (*fetch.Credential, error) {
				return &fetch.Credential{User: "alice", Password: "s3cret"}, nil
			}
		})
		req := schemetest.NewRequest(t, url(leaf, ""))
		req.Auth = &fetch.Credential{User: "alice", Password: "s3cret"}
		req.Header = fetch.Header{{Name: "Cookie", Value: "a=b"}, {Name: "X-Api-Key", Value: "k"}, {Name: "X-Note", Value: "n"}}
		if test.code == 0 {
			req.Header = append(req.Header, fetch.Field{Name: "Authorization", Value: "Bearer t"})
		}
		if got := schemetest.Summary(c.Do(t.Context(), req)); got != test.want || strings.Join(sent, " ") != "X-Note" {
			t.Errorf("%s: %s, want %s; the gateway got %q", test.name, got, test.want, sent)
		}
	}
}
