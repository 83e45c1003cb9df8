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

// TestHostConfusion checks that the driver resolves the host of the URL and
// sends it in the Host field, for URLs that other parsers read differently:
// CVE-2016-8624 (#), CVE-2024-38428 (;), CVE-2016-9179 (?) and CVE-2025-47912.
func TestHostConfusion(t *testing.T) {
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
		var dns nameRecorder
		_, _, err := get(t, s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns }), newRequest(c.url))
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

// TestAmbiguousHost checks that URLs with an ambiguous host are rejected:
// CVE-2022-27780 (%2F), CVE-2019-14809 (text after the port) and
// CVE-2023-29406.
func TestAmbiguousHost(t *testing.T) {
	for _, url := range []string{
		"http://good%2f@evil%2f/", "http://good%2fevil/", "http://good%00/", "http://h:8x/", "http://h:99999/", "http://h:65616/",
		"http://[127.0.0.1]/", "http://[::1]x/", "http://[v1.x]/", "http://a@b@c/", "http://127.0.0.1\\@x/", "http://0x7f.1/", "http://127.1/",
		"http://h\r\nX: y/", "http:///h/", "http:h",
	} {
		s := &script{}
		var dns nameRecorder
		client := s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Resolver = &dns })
		resp, err := client.Get(t.Context(), url)
		if err == nil {
			resp.Body.Close()
		}
		if err == nil || s.conns > 0 || len(dns.names) > 0 {
			t.Errorf("%s: %v, resolved %q, %d connections", url, err, dns.names, s.conns)
		}
	}
}

// TestServerName checks that the TLS server name has only the host. In
// CVE-2021-38165 it also contained the user and password.
func TestServerName(t *testing.T) {
	for url, want := range map[string]string{
		"https://alice:s3cret@h/": "h", "https://h./": "h", "https://H:443/": "h", "https://h:8443/": "h",
	} {
		s := &script{replies: [][]string{{ok}}}
		trust := s.withTLS(t)
		var serverName string
		s.config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			serverName = hello.ServerName
			return nil, nil
		}
		if _, _, err := get(t, s.newClient(t, http.Options{}, trust), newRequest(url)); err != nil || !strings.EqualFold(serverName, want) {
			t.Errorf("%s: server name %q, %v", url, serverName, err)
		}
	}
}

// TestTrailingDot checks that a host with a trailing dot is the same origin and
// has the same cookies: CVE-2022-27779 and CVE-2022-30115.
func TestTrailingDot(t *testing.T) {
	s := &script{replies: [][]string{
		{"HTTP/1.1 302 x\r\nLocation: http://h.example/2\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"}, {ok},
	}}
	client := s.newClient(t, http.Options{Jar: http.NewJar()})
	if _, _, err := get(t, client, newRequest("http://alice:s3cret@h.example./1")); err != nil {
		t.Fatal(err)
	}
	heads := s.heads()
	if len(heads) != 2 || !strings.Contains(heads[1], "\r\nCookie: a=b\r\n") || !strings.Contains(heads[1], "\r\nAuthorization: ") {
		t.Errorf("sent %q", heads)
	}
}

// TestSecretsAfterSchemeChange checks that a redirect between http and https
// changes the origin: CVE-2022-27774.
func TestSecretsAfterSchemeChange(t *testing.T) {
	for _, c := range []struct{ from, to string }{{"http://h:8443/", "https://h:8443/2"}, {"https://h:8443/", "http://h:8443/2"}} {
		plain, secure := &script{}, &script{}
		trust := secure.withTLS(t)
		first, second := plain, secure
		if strings.HasPrefix(c.from, "https") {
			first, second = secure, plain
		}
		first.replies, second.replies = [][]string{{redirectTo(c.to)}}, [][]string{{ok}}
		t.Cleanup(second.serving.Wait)
		client := first.newClient(t, http.Options{}, trust, func(o *fetch.Options) {
			o.Policy.Downgrade = true
			o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
				if first.connCount() == 0 {
					return first.dial(ctx, network, to)
				}
				return second.dial(ctx, network, to)
			}
		})
		req := newRequest(strings.Replace(c.from, "//", "//alice:s3cret@", 1))
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
