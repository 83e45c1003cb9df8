package fetch

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// TestPermits checks which requests may use a connection that another request
// has opened. A request for a URL from another server must not use a connection
// that it could not open itself.
func TestPermits(t *testing.T) {
	from := func(u, peer string) *Source {
		return &Source{URL: uri.MustParse(u), Peer: netip.MustParseAddr(peer)}
	}
	for _, c := range []struct {
		name   string
		policy Policy
		first  *Source // nil if the user entered the URL
		addr   string  // address of h.example
		then   *Source
		url    string
		ok     bool
	}{
		{"same origin", Typed(), nil, "10.0.0.1", from("http://h.example/", "10.0.0.1"), "http://h.example/", true},
		{"entered by the user", Typed(), from("http://h.example/", "10.0.0.1"), "10.0.0.1", nil, "http://h.example/", true},
		{"both entered", Typed(), nil, "10.0.0.1", nil, "http://h.example/", true},
		{"page of another host", Typed(), nil, "8.8.8.8", from("http://other.example/", "9.9.9.9"), "http://h.example/", false},
		{"public page, private host", Typed(), nil, "10.0.0.1", from("http://other.example/", "9.9.9.9"), "http://h.example/", false},
		{"page of the host at a public address", Typed(), nil, "10.0.0.1", from("http://h.example/", "9.9.9.9"), "http://h.example/", false},
		{"page of another port", Typed(), nil, "8.8.8.8", from("http://h.example:8080/", "8.8.8.8"), "http://h.example/", false},
		{"another host", Typed(), nil, "8.8.8.8", nil, "http://other.example/", false},
		{"another port", Typed(), nil, "8.8.8.8", nil, "http://h.example:8080/", false},
		{"host that is not allowed", Allowlist("h.example"), nil, "8.8.8.8", nil, "http://other.example/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			var conn net.Conn
			var got []bool
			s := page(nil)
			s.Open = func(env Env) Driver {
				return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
					if conn == nil {
						var err error
						if conn, err = env.Net.DialContext(ctx, "tcp", "h.example:80"); err != nil {
							return nil, err
						}
					}
					// The pool key of two URLs that the user entered is the same.
					own, g := connOf(conn), grantOf(ctx)
					got = append(got, env.Net.(*dialer).permits(g, own))
					resp := &Response{}
					text(resp, "x")
					return resp, nil
				})
			}
			cl := New(Options{Policy: c.policy, Dial: r.dial, Resolver: names{"h.example": {c.addr}, "other.example": {c.addr}}}, s)
			defer cl.Close()
			for _, req := range []*Request{{URL: uri.MustParse("http://h.example/"), From: c.first}, {URL: uri.MustParse(c.url), From: c.then}} {
				resp, err := cl.Do(t.Context(), req)
				if err == nil {
					resp.Body.Close()
				}
			}
			if last := len(got) == 2 && got[1]; last != c.ok {
				t.Errorf("got %v, want %v", got, c.ok)
			}
		})
	}
}

// TestKeysOfPermissions checks that a request does not share the pooled
// connections of a request with more permissions.
func TestKeysOfPermissions(t *testing.T) {
	from := func(u, peer string) *Source {
		s := &Source{URL: uri.MustParse(u)}
		s.Peer, _ = netip.ParseAddr(peer)
		return s
	}
	for _, c := range []struct {
		name, url   string
		first, then *Source
		same        bool
	}{
		{"two public pages", "http://h.example/", from("http://a.example/", "8.8.8.8"), from("http://b.example/", "9.9.9.9"), true},
		{"server of a template and public page", "http://h.example/", from("name:x", ""), from("http://b.example/", "9.9.9.9"), false},
		{"pages behind a proxy", "http://h.example/", from("http://h.example/", ""), from("http://b.example/", ""), false},
		{"pages of one network", "http://h.example:8080/", from("http://h.example:8080/", "10.0.0.5"), from("http://b.example/", "10.0.0.6"), true},
		{"pages of one network, text service", "http://h.example:9200/", from("http://h.example:9200/", "10.0.0.5"), from("http://b.example/", "10.0.0.6"), false},
	} {
		var keys []string
		web := page(nil)
		web.Open = func(env Env) Driver {
			return DriverFunc(func(ctx context.Context, _ *Request) (*Response, error) {
				keys = append(keys, env.Net.Key(ctx))
				resp := &Response{}
				text(resp, "x")
				return resp, nil
			})
		}
		names := Scheme{Name: "name", Links: scheme.Links{To: []string{"http"}}, Trust: []string{"h.example:80"}}
		client := New(Options{Policy: Typed()}, web, names)
		for _, source := range []*Source{c.first, c.then} {
			resp, err := client.Do(t.Context(), &Request{URL: uri.MustParse(c.url), From: source})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			resp.Body.Close()
		}
		client.Close()
		if same := keys[0] == keys[1]; same != c.same {
			t.Errorf("%s: keys %q", c.name, keys)
		}
	}
}
