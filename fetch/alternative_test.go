package fetch

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// TestConfiguredAlternative checks that a server of the configuration, such as a
// KDC, does not become permitted because a response names it as an alternative
// service. A server of the configuration that the driver uses itself is permitted, as
// over TCP.
func TestConfiguredAlternative(t *testing.T) {
	const kdc = "10.0.0.1:1088"
	for _, c := range []struct {
		name, network string
		alternative   bool
		own           bool  // the driver uses the address itself
		want          Fault // 0 if a connection is opened
	}{
		{"configured", "tcp", false, false, 0},
		{"alternative", "udp", true, false, BadAddress},
		{"configured, over QUIC", "udp", true, true, 0},
	} {
		r := &recorder{}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial})
		s := &Scheme{Name: "https", Port: 443, Trust: []string{kdc}, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		g := &grant{scheme: s, typed: true, target: Target{Scheme: "https", Host: "a.test", Port: 443}}
		ctx := context.WithValue(t.Context(), grantKey{}, g)
		if c.alternative {
			own := g.target.Address()
			if c.own {
				own = kdc
			}
			ctx = datagram.With(ctx, own, func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		}
		conn, err := d.DialContext(ctx, c.network, kdc)
		if err == nil {
			conn.Close()
		}
		if (err != nil || c.want != 0) && FaultOf(err) != c.want {
			t.Errorf("%s: got %v, dialed %q", c.name, err, r.addresses())
		}
	}
}

// TestAlternativeOfLink checks that the page with a link does not determine the
// addresses that the server of the link may supply.
func TestAlternativeOfLink(t *testing.T) {
	const address = "10.0.0.9:8443"
	for _, c := range []struct {
		name        string
		change      func(*grant)
		alternative bool
		addr        string
		want        Fault // 0 if a connection is opened
	}{
		{"typed URL", func(g *grant) { g.typed = true }, true, address, BadAddress},
		{"link on a local page", func(g *grant) { g.pageClass = loopback }, true, address, BadAddress},
		{"link on a page of the network", func(g *grant) { g.setPage(netip.MustParseAddr("10.0.0.5")) }, true, address, BadAddress},
		{"link on a page of the alternative", func(g *grant) {
			g.pageClass, g.pageOrigin = loopback, Origin{Scheme: "https", Host: "10.0.0.9", Port: 8443}
		}, true, address, BadAddress},
		{"redirect of the configuration", func(g *grant) { g.configured = true }, true, address, BadAddress},
		{"redirect of the configuration, other port", func(g *grant) { g.configured = true }, true, "a.test:25", BadPort},
		{"referral", func(g *grant) { g.pageClass = loopback }, false, address, BadAddress},
		{"other port", func(g *grant) { g.setPage(netip.MustParseAddr("10.0.0.5")) }, true, "a.test:8443", 0},
		{"other port of a link on a public page", func(g *grant) { g.pageClass = public }, true, "a.test:8443", BadAddress},
	} {
		r := &recorder{}
		private := names{"a.test": {"10.0.0.7"}}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial, Resolver: private})
		s := &Scheme{Name: "https", Port: 443, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		g := &grant{scheme: s, target: Target{Scheme: "https", Host: "a.test", Port: 443}}
		c.change(g)
		ctx := context.WithValue(t.Context(), grantKey{}, g)
		if c.alternative {
			ctx = datagram.With(ctx, g.target.Address(), func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		}
		conn, err := d.DialContext(ctx, "udp", c.addr)
		if err == nil {
			conn.Close()
		}
		if (err != nil || c.want != 0) && FaultOf(err) != c.want {
			t.Errorf("%s: got %v, dialed %q", c.name, err, r.addresses())
		}
	}
}

// TestConfiguredWithoutProxy checks that a KDC is reached without a proxy and
// without the route of all hosts, but not a URL that has its address.
func TestConfiguredWithoutProxy(t *testing.T) {
	const kdc, via, staging = "10.0.0.1:1088", "10.0.0.2:3128", "10.0.0.3:8443"
	detour := func(t Target) Target {
		return Target{Scheme: t.Scheme, Host: "10.0.0.3", Addr: netip.MustParseAddr("10.0.0.3"), Port: 8443}
	}
	for _, c := range []struct {
		name, scheme, host string
		port               uint16
		direct             bool
		route              func(Target) Target
		want               string
	}{
		{"a KDC for http", "http", "a.test", 80, true, nil, kdc},
		{"a KDC for dav", "dav", "a.test", 80, true, nil, kdc},
		{"a KDC with a route for all hosts", "http", "a.test", 80, true, detour, kdc},
		{"a URL with its address", "http", "10.0.0.1", 1088, false, nil, via},
		{"a URL with its address and a route", "http", "10.0.0.1", 1088, false, detour, staging},
		{"an S3 server", "s3", "a.test", 443, false, nil, via},
	} {
		r := &recorder{fail: map[string]error{via: Connect.Errorf("no proxy")}}
		to := func(Target) (Proxy, error) { return Proxy{URL: uri.MustParse("http://" + via), Tunnel: true}, nil }
		if c.route != nil {
			to = nil
		}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial, Proxy: to, Route: c.route})
		s := &Scheme{Name: c.scheme, Port: 80, Trust: []string{kdc}, Ports: scheme.Ports{Class: scheme.WebPorts}}
		s.Traits.Web = c.scheme == "http"
		target := Target{Scheme: c.scheme, Host: c.host, Port: c.port}
		target.Addr, _ = netip.ParseAddr(c.host)
		ctx := context.WithValue(t.Context(), grantKey{}, &grant{scheme: s, typed: true, target: target})
		if c.direct {
			ctx = proxy.Direct(ctx)
		}
		if conn, err := d.DialContext(ctx, "tcp", kdc); err == nil {
			conn.Close()
		}
		if got := r.addresses(); got != c.want {
			t.Errorf("%s: dialed %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAlternativeOfRoutedServer checks that an alternative service does not
// bypass the proxy or the route of its server.
func TestAlternativeOfRoutedServer(t *testing.T) {
	const via, staging = "10.0.0.2", "10.0.0.3"
	proxies := map[string]bool{}
	routes := map[string]string{}
	to := func(to Target) (Proxy, error) {
		if proxies[to.Host] {
			return Proxy{URL: uri.MustParse("http://" + via)}, nil
		}
		return Proxy{}, nil
	}
	route := func(to Target) Target {
		if host := routes[to.Host]; host != "" {
			to.Host, to.Addr = host, netip.MustParseAddr(host)
		}
		return to
	}
	for _, c := range []struct {
		name    string
		proxies map[string]bool   // hosts that need the proxy
		routes  map[string]string // addresses in place of hosts
		want    string            // the address that is dialed
	}{
		{"neither", nil, nil, "8.8.8.8:443"},
		{"proxy", map[string]bool{"a.test": true, "b.test": true}, nil, ""},
		{"proxy, and none for the alternative", map[string]bool{"a.test": true}, nil, ""},
		{"proxy for the alternative", map[string]bool{"b.test": true}, nil, ""},
		{"proxy for the route", map[string]bool{staging: true}, map[string]string{"a.test": staging, "b.test": "10.0.0.4"}, ""},
		{"route", nil, map[string]string{"a.test": staging}, ""},
		{"route, and another one for the alternative", nil, map[string]string{"a.test": staging, "b.test": "10.0.0.4"}, "10.0.0.4:443"},
		{"route for the alternative", nil, map[string]string{"b.test": "10.0.0.4"}, "10.0.0.4:443"},
	} {
		proxies, routes = c.proxies, c.routes
		r := &recorder{}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial, Proxy: to, Route: route, Resolver: names{"b.test": {"8.8.8.8"}}})
		s := &Scheme{Name: "https", Port: 443, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		g := &grant{scheme: s, typed: true, target: Target{Scheme: "https", Host: "a.test", Port: 443}}
		ctx := datagram.With(context.WithValue(t.Context(), grantKey{}, g), g.target.Address(), func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		conn, err := d.DialContext(ctx, "udp", "b.test:443")
		if err == nil {
			conn.Close()
		}
		if got := r.addresses(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: dialed %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestAmplifiers checks that no datagram is sent to the port of a service that
// amplifies datagrams, also if a route leads there.
func TestAmplifiers(t *testing.T) {
	for _, c := range []struct {
		name, addr string
		place      uint16 // port of the route, or 0
		want       string // the address that is dialed
	}{
		{"other port", "8.8.8.8:443", 0, "8.8.8.8:443"},
		{"port of an amplifier", "8.8.8.8:11211", 0, ""},
		{"route to another port", "8.8.8.8:443", 8443, "8.8.8.8:8443"},
		{"route to an amplifier", "8.8.8.8:443", 11211, ""},
		{"route to a DNS server", "8.8.8.8:443", 53, ""},
	} {
		r := &recorder{}
		route := func(to Target) Target {
			if c.place != 0 {
				to.Port = c.place
			}
			return to
		}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial, Route: route})
		s := &Scheme{Name: "https", Port: 443, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		g := &grant{scheme: s, typed: true, target: Target{Scheme: "https", Host: "8.8.8.8", Addr: netip.MustParseAddr("8.8.8.8"), Port: netip.MustParseAddrPort(c.addr).Port()}}
		ctx := context.WithValue(t.Context(), grantKey{}, g)
		ctx = datagram.With(ctx, c.addr, func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		conn, err := d.DialContext(ctx, "udp", c.addr)
		if err == nil {
			conn.Close()
		}
		if got := r.addresses(); got != c.want || c.want == "" && FaultOf(err) != BadPort {
			t.Errorf("%s: dialed %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestAlternativeOfOwnPage checks that the port of a page gives no permission for
// an alternative service, because requests of links on other pages can use its
// connection.
func TestAlternativeOfOwnPage(t *testing.T) {
	for _, c := range []struct {
		name, host string
		port       uint16
		want       Fault // 0 if a connection is opened
	}{
		{"public address", "8.8.8.8", 8443, 0},
		{"port below 1024", "8.8.8.8", 444, BadPort},
		{"private address", "10.0.0.7", 8443, 0},
		{"port of a service for text", "10.0.0.7", 6443, BadPort},
	} {
		r := &recorder{}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial})
		s := &Scheme{Name: "https", Port: 443, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		addr := netip.MustParseAddr(c.host)
		g := &grant{scheme: s, target: Target{Scheme: "https", Host: c.host, Addr: addr, Port: 443}}
		g.setPage(addr)
		g.pageOrigin = Origin{Scheme: "https", Host: c.host, Port: c.port}
		ctx := context.WithValue(t.Context(), grantKey{}, g)
		ctx = datagram.With(ctx, g.target.Address(), func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		conn, err := d.DialContext(ctx, "udp", netip.AddrPortFrom(addr, c.port).String())
		if err == nil {
			conn.Close()
		}
		if (err != nil || c.want != 0) && FaultOf(err) != c.want {
			t.Errorf("%s: got %v, dialed %q", c.name, err, r.addresses())
		}
	}
}
