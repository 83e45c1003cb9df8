package fetch

import (
	"context"
	"crypto/tls"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestIdentity checks which requests may use the client certificates: those for
// URLs that the user entered, and those to which the same server leads.
func TestIdentity(t *testing.T) {
	type step struct {
		from, url string // from is "" for a URL that the user entered
		want      bool
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"entered", []step{{"", "https://a.test/", true}, {"", "https://b.test/", true}}},
		{"link of the same server", []step{{"", "https://a.test/", true}, {"https://a.test/", "https://A.test:443/x", true}}},
		{"link to another server", []step{{"", "https://a.test/", true}, {"https://a.test/", "https://b.test/", false}}},
		{"pages of another server", []step{{"", "https://a.test/", true}, {"https://a.test/", "https://b.test/", false}, {"https://b.test/", "https://b.test/x", false}}},
		{"link of another server", []step{{"", "https://a.test/", true}, {"https://b.test/", "https://a.test/", false}}},
		{"another port", []step{{"", "https://a.test/", true}, {"https://a.test/", "https://a.test:8443/", false}}},
		{"another port that was entered", []step{{"", "https://a.test/", true}, {"", "https://a.test:8443/", true}, {"https://a.test/", "https://a.test:8443/", false}}},
		{"nothing was entered", []step{{"https://a.test/", "https://a.test/", false}}},
		{"with TLS", []step{{"", "http://a.test/", true}, {"http://a.test/", "https://a.test/", true}, {"https://a.test/", "https://a.test/x", true}}},
		{"with TLS on another host", []step{{"", "http://a.test/", true}, {"http://a.test/", "https://b.test/", false}}},
		{"with TLS on another port", []step{{"", "http://a.test/", true}, {"http://a.test/", "https://a.test:8443/", false}}},
		{"with TLS from another port", []step{{"", "http://a.test:8080/", true}, {"http://a.test:8080/", "https://a.test/", false}}},
		{"a page without a host", []step{{"", "https://a.test/", true}, {"https:", "https://a.test/", false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got bool
			record := func(s Scheme) Scheme {
				s.Open = func(Env) Driver {
					return DriverFunc(func(ctx context.Context, _ *Request) (*Response, error) {
						got = !grantOf(ctx).anonymous
						resp := &Response{}
						text(resp, "x")
						return resp, nil
					})
				}
				return s
			}
			o := Options{Policy: Typed(), TLS: &tls.Config{Certificates: make([]tls.Certificate, 1)}}
			client := New(o, record(page(nil)), record(pageOf("https", 443, nil)))
			defer client.Close()
			for _, s := range c.steps {
				req := &Request{URL: uri.MustParse(s.url)}
				if s.from != "" {
					req.From = &Source{URL: uri.MustParse(s.from)}
				}
				resp, err := client.Do(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if got != s.want {
					t.Errorf("from %q to %s: got %v", s.from, s.url, got)
				}
			}
		})
	}
}

// TestIdentityOptions checks that the certificates are not restricted without a
// certificate, and with Policy.LocationTrusted.
func TestIdentityOptions(t *testing.T) {
	certs := &tls.Config{Certificates: make([]tls.Certificate, 1)}
	trusted := Typed()
	trusted.LocationTrusted = true
	ask := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return nil, nil }
	for _, c := range []struct {
		name string
		o    Options
		want bool
	}{
		{"defaults", Options{}, false},
		{"no certificate", Options{TLS: &tls.Config{}}, false},
		{"certificate", Options{TLS: certs}, true},
		{"function", Options{TLS: &tls.Config{GetClientCertificate: ask}}, true},
		{"every host is trusted", Options{TLS: certs, Policy: trusted}, false},
	} {
		if i := newIdentity(c.o); (i != nil) != c.want {
			t.Errorf("%s: restricted %v", c.name, i != nil)
		}
	}
	i, s := newIdentity(Options{TLS: certs}), &Scheme{Name: "https", Port: 443}
	for n := range maxServers {
		i.servers[strconv.Itoa(n)] = true
	}
	g := &grant{typed: true, scheme: s, target: Target{Scheme: "https", Host: "a.test", Port: 443}}
	if !i.permits(g, nil) || len(i.servers) > maxServers {
		t.Errorf("%d servers", len(i.servers))
	}
	if g.typed, g.pageOrigin = false, g.target.Origin(); i.permits(g, s) {
		t.Error("a server that is not remembered gets a certificate for a link")
	}
	if config := withoutCertificates(certs); config.Certificates != nil || certs.Certificates == nil {
		t.Error("certificates not removed, or removed from the original")
	}
	sessions := tls.NewLRUClientSessionCache(1)
	certs.ClientSessionCache = sessions
	if config := withoutCertificates(markSessions(certs)); config.ClientSessionCache != nil || certs.ClientSessionCache != sessions {
		t.Error("sessions with a certificate not removed, or removed from the original")
	}
	if config := withoutCertificates(certs); config.ClientSessionCache != sessions {
		t.Error("the sessions of a driver are removed")
	}
}
