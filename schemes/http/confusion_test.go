package http_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// Whatever stands around the host, the one that is named is the one that is
// resolved, and the one that the Host field says: CVE-2016-8624 (#),
// CVE-2024-38428 (;), CVE-2016-9179 (?), CVE-2025-47912.
func TestHostIsHost(t *testing.T) {
	for _, c := range []struct{ url, resolved, field string }{
		{"http://good#@evil/", "good", "good"},
		{"http://good/#@evil/", "good", "good"},
		{"http://good?@evil/", "good", "good"},
		{"http://good/?@evil/", "good", "good"},
		{"http://a;b:c@good/", "good", "good"},
		{"http://evil;a@good/", "good", "good"},
		{"http://evil%2f@good/", "good", "good"},
		{"http://evil:80@good:8080/", "good", "good:8080"},
		{"http://good:0080/@evil", "good", "good"},
	} {
		s := &script{replies: [][]string{{ok}}}
		var dns asked
		_, _, err := get(t, s.open(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns }), wireRequest(c.url))
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if name := strings.TrimSuffix(strings.Join(dns.names, " "), "."); name != c.resolved {
			t.Errorf("%s: resolved %s", c.url, name)
		}
		if head := s.heads()[0]; !strings.Contains(head, "\r\nHost: "+c.field+"\r\n") {
			t.Errorf("%s: sent %q", c.url, head)
		}
	}
}

// What names no host that all programs read alike is not sent anywhere:
// CVE-2022-27780 (%2F), CVE-2019-14809 (junk behind the port), CVE-2023-29406.
func TestNoHost(t *testing.T) {
	for _, url := range []string{
		"http://good%2f@evil%2f/", "http://good%2fevil/", "http://good%00/", "http://h:8x/", "http://h:99999/", "http://h:65616/",
		"http://[127.0.0.1]/", "http://[::1]x/", "http://[v1.x]/", "http://a@b@c/", "http://127.0.0.1\\@x/", "http://0x7f.1/", "http://127.1/",
		"http://h\r\nX: y/", "http:///h/", "http:h",
	} {
		s := &script{}
		var dns asked
		client := s.open(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns })
		resp, err := client.Get(t.Context(), url)
		if err == nil {
			resp.Body.Close()
		}
		if err == nil || s.conns > 0 || len(dns.names) > 0 {
			t.Errorf("%s: %v, resolved %q, %d connections", url, err, dns.names, s.conns)
		}
	}
}

// TLS names the host alone: CVE-2021-38165 sent the user and password.
func TestServerName(t *testing.T) {
	for url, want := range map[string]string{
		"https://alice:s3cret@h/": "h", "https://h./": "h", "https://H:443/": "h", "https://h:8443/": "h",
	} {
		s := &script{replies: [][]string{{ok}}}
		trust := s.secure(t)
		var named string
		s.config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			named = hello.ServerName
			return nil, nil
		}
		if _, _, err := get(t, s.open(t, http.Options{}, trust), wireRequest(url)); err != nil || !strings.EqualFold(named, want) {
			t.Errorf("%s: named %q, %v", url, named, err)
		}
	}
}

// A host with its trailing dot is the same origin, with the same cookies:
// CVE-2022-27779, CVE-2022-30115.
func TestTrailingDot(t *testing.T) {
	s := &script{replies: [][]string{
		{"HTTP/1.1 302 x\r\nLocation: http://h.example/2\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"}, {ok},
	}}
	client := s.open(t, http.Options{Jar: &http.Jar{}})
	if _, _, err := get(t, client, wireRequest("http://alice:s3cret@h.example./1")); err != nil {
		t.Fatal(err)
	}
	heads := s.heads()
	if len(heads) != 2 || !strings.Contains(heads[1], "\r\nCookie: a=b\r\n") || !strings.Contains(heads[1], "\r\nAuthorization: ") {
		t.Errorf("sent %q", heads)
	}
}

// A change of the scheme is one of the origin, both ways: CVE-2022-27774.
func TestSecretsOfAnotherScheme(t *testing.T) {
	for _, c := range []struct{ from, to string }{{"http://h:8443/", "https://h:8443/2"}, {"https://h:8443/", "http://h:8443/2"}} {
		plain, secure := &script{}, &script{}
		trust := secure.secure(t)
		first, second := plain, secure
		if strings.HasPrefix(c.from, "https") {
			first, second = secure, plain
		}
		first.replies, second.replies = [][]string{{moved(c.to)}}, [][]string{{ok}}
		t.Cleanup(second.serving.Wait)
		client := first.open(t, http.Options{}, trust, func(o *fetch.Options) {
			o.Policy.Downgrade = true
			o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
				if first.dialled() == 0 {
					return first.dial(ctx, network, to)
				}
				return second.dial(ctx, network, to)
			}
		})
		req := wireRequest(strings.Replace(c.from, "//", "//alice:s3cret@", 1))
		req.Header = secretFields
		if _, _, err := get(t, client, req); err != nil {
			t.Fatalf("%s: %v", c.from, err)
		}
		for _, secret := range []string{"t0ken", "c00kie", "k3y", "pr0xy", "uthorization"} {
			if head := second.heads()[0]; strings.Contains(head, secret) || !strings.Contains(first.heads()[0], "c00kie") {
				t.Errorf("from %s: sent %q", c.from, head)
			}
		}
	}
}
