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

func redirectTo(to string) string {
	return "HTTP/1.1 302 x\r\nLocation: " + to + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
}

// secretFields are header fields with secrets and one field without.
var secretFields = fields("Authorization", "Bearer t0ken", "Cookie", "a=c00kie", "X-Api-Key", "k3y", "Proxy-Authorization", "Basic pr0xy", "X-Plain", "plain")

// TestSecretsAfterRedirect checks that only the first origin receives secrets,
// and that they are not sent again after a redirect back to it: CVE-2023-45289,
// CVE-2024-45336 and CVE-2025-4673.
func TestSecretsAfterRedirect(t *testing.T) {
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
				s.replies = append(s.replies, []string{redirectTo(to)})
			}
			s.replies = append(s.replies, []string{ok})
			req := newRequest("http://alice:s3cret@a/")
			req.Header = secretFields
			if _, _, err := get(t, s.newClient(t, http.Options{}), req); err != nil {
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

// TestNoReferer checks that requests after a redirect have no Referer field and
// no server receives the password or the fragment: CVE-2021-22876.
func TestNoReferer(t *testing.T) {
	s := &script{replies: [][]string{{redirectTo("/2#x")}, {redirectTo("http://b/")}, {ok}}}
	if _, _, err := get(t, s.newClient(t, http.Options{}), newRequest("http://alice:s3cret@a/1?q#fr4gment")); err != nil {
		t.Fatal(err)
	}
	for i, head := range s.heads() {
		if strings.Contains(head, "Referer") || strings.Contains(head, "s3cret") || strings.Contains(head, "fr4gment") || i == 2 && strings.Contains(head, "uthorization") {
			t.Errorf("request %d: %q", i, head)
		}
	}
}

// A nameRecorder is a resolver that records the queried names.
type nameRecorder struct {
	mu    sync.Mutex
	names []string
}

func (a *nameRecorder) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, host)
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// TestResolverGetsNoPassword checks that no part of a password is sent to the
// resolver: CVE-2020-8169.
func TestResolverGetsNoPassword(t *testing.T) {
	for _, userinfo := range []string{"alice:p%40ssw0rd", "alice%40home:p%3ass%2fw0rd", "p%23ssw0rd"} {
		s := &script{replies: [][]string{{redirectTo("http://other.example/")}, {ok}}}
		var dns nameRecorder
		client := s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns })
		if _, _, err := get(t, client, newRequest("http://"+userinfo+"@first.example/")); err != nil {
			t.Fatal(err)
		}
		for i := range dns.names {
			dns.names[i] = strings.TrimSuffix(dns.names[i], ".")
		}
		if !slices.Equal(dns.names, []string{"first.example", "other.example"}) {
			t.Errorf("%s: queried %q", userinfo, dns.names)
		}
	}
}

// TestTunnelGetsNoSecret checks that header fields for the origin are not sent
// in a CONNECT request: CVE-2015-3153.
func TestTunnelGetsNoSecret(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 200 x\r\n\r\n", ok}}}
	client := s.newClient(t, http.Options{}, func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
			return fetch.Proxy{URL: uri.MustParse("http://proxy:3128"), Tunnel: true, Header: fields("X-Proxy", "y")}, nil
		}
	})
	req := newRequest("http://alice:s3cret@h/")
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
			t.Errorf("proxy received %s: %q", secret, heads[0])
		}
	}
}
