package fetch

import (
	"context"
	"net"
	"net/netip"

	"github.com/anyurl/fetch/uri"
)

// through reaches t by way of a proxy. The Policy has judged t by what is
// known of it here; where only public addresses may be reached, the name is
// resolved here too and the proxy gets the address.
func (d *door) through(ctx context.Context, network string, via uri.URI, g *grant, t Target) (net.Conn, error) {
	if network != "tcp" {
		return nil, Unsupported.Errorf("datagrams do not pass a proxy: %s", t.Address())
	}
	t, err := d.forProxy(ctx, g, t)
	if err != nil {
		return nil, err
	}
	return d.throughProxy(ctx, via, g, t)
}

func (d *door) forProxy(ctx context.Context, g *grant, t Target) (Target, error) {
	if d.policy.Reach == Anywhere || t.Addr.IsValid() {
		return t, nil
	}
	addrs, err := d.allowed(ctx, g, t)
	if err != nil {
		return t, err
	}
	t.Addr, t.Host = addrs[0], addrs[0].String()
	return t, nil
}

func (d *door) Proxy(ctx context.Context) (Via, bool, error) {
	g := grantOf(ctx)
	if g == nil {
		return Via{}, false, refuseAddress("connection without a request", "", "")
	}
	proxy, err := d.proxyFor(g.target)
	if err != nil || g.target.Scheme != "http" || !isHTTP(proxy) {
		return Via{}, false, err
	}
	t, err := d.forProxy(ctx, g, g.target)
	return Via{Proxy: proxy, Target: t}, err == nil, err
}

func isHTTP(proxy uri.URI) bool {
	return !proxy.IsZero() && (proxy.Scheme() == "http" || proxy.Scheme() == "https")
}

func (d *door) DialProxy(ctx context.Context) (net.Conn, error) {
	g := grantOf(ctx)
	if g == nil {
		return nil, refuseAddress("connection without a request", "", "")
	}
	proxy, err := d.proxyFor(g.target)
	if err != nil {
		return nil, err
	}
	return d.dialProxy(ctx, proxy, g)
}

// proxyPorts are where proxies listen that name no port.
var proxyPorts = map[string]uint16{"http": 1080, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080}

// dialProxy connects to the proxy itself. The configuration named it, so no
// table judges it; and since nobody knows whom it will reach, the connection
// has no peer.
func (d *door) dialProxy(ctx context.Context, proxy uri.URI, g *grant) (*conn, error) {
	t, err := TargetOf(proxy, proxyPorts[proxy.Scheme()])
	if err != nil {
		return nil, err
	}
	if t.Host == "" || t.Port == 0 {
		return nil, Usage.Errorf("proxy %s is not SCHEME://HOST:PORT", proxy)
	}
	addrs, err := d.resolve(ctx, t, true)
	if err != nil {
		return nil, err
	}
	raw, err := d.race(ctx, "tcp", addrs, t.Port, func(a netip.Addr) error { return nil })
	if err != nil {
		return nil, err
	}
	c := d.wrap(raw.conn, g, netip.AddrPort{}, g.target.Host)
	c.via = proxy
	return c, nil
}

// throughProxy asks the proxy for t.
func (d *door) throughProxy(ctx context.Context, via uri.URI, g *grant, t Target) (net.Conn, error) {
	return nil, Unsupported.Errorf("no way through a %s proxy yet", via.Scheme())
}
