package http_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func moved(to string) string {
	return "HTTP/1.1 302 x\r\nLocation: " + to + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
}

// What a request holds that is nobody's else.
var secretFields = fields("Authorization", "Bearer t0ken", "Cookie", "a=c00kie", "X-Api-Key", "k3y", "Proxy-Authorization", "Basic pr0xy", "X-Plain", "plain")

// Secrets stay with the first origin: CVE-2023-45289, CVE-2024-45336,
// CVE-2025-4673. They do not come back with it either.
func TestSecretsStayHome(t *testing.T) {
	for name, chain := range map[string][]string{
		"a b a":         {"http://b/", "http://a/back"},
		"a b b":         {"http://b/", "http://b/2"},
		"a port a":      {"http://a:8080/", "http://a/back"},
		"a a.b a":       {"http://a.b/", "http://a/back"},
		"a user@b user": {"http://alice:s3cret@b/", "http://alice:s3cret@a/back"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{}
			for _, to := range chain {
				s.replies = append(s.replies, []string{moved(to)})
			}
			s.replies = append(s.replies, []string{ok})
			req := wireRequest("http://alice:s3cret@a/")
			req.Header = secretFields
			if _, _, err := get(t, s.open(t, http.Options{}), req); err != nil {
				t.Fatal(err)
			}
			for i, head := range s.heads() {
				for _, secret := range []string{"t0ken", "c00kie", "k3y", "pr0xy", "YWxpY2U6"} {
					if strings.Contains(head, secret) && i > 0 {
						t.Errorf("request %d shows %s: %q", i, secret, head)
					}
				}
				if !strings.Contains(head, "X-Plain: plain") {
					t.Errorf("request %d: %q", i, head)
				}
			}
		})
	}
}

// A page that leads on does not hear from whom it came, and nobody else hears
// the password or what stands behind the #: CVE-2021-22876.
func TestNoReferer(t *testing.T) {
	s := &script{replies: [][]string{{moved("/2#x")}, {moved("http://b/")}, {ok}}}
	if _, _, err := get(t, s.open(t, http.Options{}), wireRequest("http://alice:s3cret@a/1?q#fr4gment")); err != nil {
		t.Fatal(err)
	}
	for i, head := range s.heads() {
		if strings.Contains(head, "Referer") || strings.Contains(head, "s3cret") || strings.Contains(head, "fr4gment") || i == 2 && strings.Contains(head, "uthorization") {
			t.Errorf("request %d: %q", i, head)
		}
	}
}

// asked is a resolver that remembers.
type asked struct {
	mu    sync.Mutex
	names []string
}

func (a *asked) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, host)
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// A resolver is asked for hosts, whatever a password holds: CVE-2020-8169.
func TestResolverSeesNoPassword(t *testing.T) {
	for _, userinfo := range []string{"alice:p%40ssw0rd", "alice%40home:p%3ass%2fw0rd", "p%23ssw0rd"} {
		s := &script{replies: [][]string{{moved("http://other.example/")}, {ok}}}
		var dns asked
		client := s.open(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns })
		if _, _, err := get(t, client, wireRequest("http://"+userinfo+"@first.example/")); err != nil {
			t.Fatal(err)
		}
		for i := range dns.names {
			dns.names[i] = strings.TrimSuffix(dns.names[i], ".")
		}
		if !slices.Equal(dns.names, []string{"first.example", "other.example"}) {
			t.Errorf("%s: asked for %q", userinfo, dns.names)
		}
	}
}

// What is meant for the origin does not go to the proxy that tunnels:
// CVE-2015-3153.
func TestTunnelHearsNoSecret(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 200 x\r\n\r\n", ok}}}
	client := s.open(t, http.Options{}, func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
			return fetch.Proxy{URL: uri.MustParse("http://proxy:3128"), Tunnel: true, Header: fields("X-Proxy", "y")}, nil
		}
	})
	req := wireRequest("http://alice:s3cret@h/")
	req.Header = fields("Cookie", "a=c00kie", "X-Api-Key", "k3y")
	if _, body, err := get(t, client, req); err != nil || body != "hello" {
		t.Fatalf("got %q, %v", body, err)
	}
	heads := s.heads()
	if len(heads) != 2 || !strings.HasPrefix(heads[0], "CONNECT h:80 ") || !strings.Contains(heads[0], "X-Proxy: y") || strings.Contains(heads[1], "X-Proxy") {
		t.Fatalf("sent %q", heads)
	}
	for _, secret := range []string{"c00kie", "k3y", "uthorization", "alice"} {
		if strings.Contains(heads[0], secret) {
			t.Errorf("the proxy hears %s: %q", secret, heads[0])
		}
	}
}
