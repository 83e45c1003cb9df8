package fetch

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestBlocked checks that Policy.Blocked applies to every kind of connection, and
// that the Dial function is not called for a blocked address.
func TestBlocked(t *testing.T) {
	blocked := netip.MustParseAddrPort("127.0.0.1:8700")
	policy := Typed()
	policy.Blocked = func(to netip.AddrPort) bool { return to == blocked }
	policy.Addresses = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	data := func(env Env) Driver { // opens a data connection to the port of the listener, as ftp does
		return DriverFunc(func(ctx context.Context, req *Request) (*Response, error) {
			control, err := env.Net.DialContext(ctx, "tcp", "127.0.0.1:2121")
			if err != nil {
				return nil, err
			}
			conn, err := env.Net.DialPeer(ctx, control, 8700)
			if err != nil {
				return nil, err
			}
			return &Response{Body: conn, Size: -1}, nil
		})
	}
	for name, c := range map[string]struct {
		url    string
		change func(*Options, *Scheme)
		dialed string
	}{
		"target":         {"http://127.0.0.1:8700/", nil, ""},
		"name":           {"http://own.example:8700/", nil, ""},
		"mapped address": {"http://[::ffff:127.0.0.1]:8700/", nil, ""},
		"trusted server": {"http://127.0.0.1:8700/", func(_ *Options, s *Scheme) { s.Trust = []string{"127.0.0.1:8700"} }, ""},
		"route": {"http://192.0.2.1/", func(o *Options, _ *Scheme) {
			o.Route = func(t Target) Target { t.Host, t.Addr, t.Port = "own.example", netip.Addr{}, 8700; return t }
		}, ""},
		"proxy":             {"http://192.0.2.1/", func(o *Options, _ *Scheme) { o.Proxy = proxyAt("socks5://127.0.0.1:8700") }, ""},
		"data connection":   {"http://127.0.0.1:2121/", func(_ *Options, s *Scheme) { s.Open = data }, "127.0.0.1:2121"},
		"another port":      {"http://127.0.0.1:8701/", nil, "127.0.0.1:8701"},
		"one of two":        {"http://two.example:8700/", nil, "127.0.0.2:8700"},
		"system, no dialer": {"http://127.0.0.1:8700/", func(o *Options, _ *Scheme) { o.Dial = nil }, ""},
	} {
		r := &recorder{}
		s := page(func(_ *Request, resp *Response) { text(resp, "x") })
		resolver := names{"own.example": {"127.0.0.1"}, "two.example": {"127.0.0.1", "127.0.0.2"}}
		o := Options{Policy: policy, Resolver: resolver, Dial: r.dial}
		if c.change != nil {
			c.change(&o, &s)
		}
		client := New(o, s)
		resp, err := client.Get(t.Context(), c.url)
		if err == nil {
			resp.Body.Close()
		}
		want := c.dialed == "" || name == "data connection"
		if got := r.addresses(); got != c.dialed || errors.Is(err, BadAddress) != want {
			t.Errorf("%s: dialled %q, %v, want %q", name, got, err, c.dialed)
		}
		client.Close()
	}
}

// proxyAt returns a ProxyFunc that selects one proxy for all targets.
func proxyAt(url string) ProxyFunc {
	return func(Target) (Proxy, error) { return Proxy{URL: uri.MustParse(url)}, nil }
}
