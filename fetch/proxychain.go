package fetch

import (
	"context"
	"net/netip"

	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// dialSecondProxy connects to the proxy p, whose host and port are t, through
// the proxy p.First. The Policy is not applied, because both were configured.
func (d *dialer) dialSecondProxy(ctx context.Context, p Proxy, g *grant, t Target) (*conn, error) {
	first, scheme := Proxy{URL: p.First}, p.First.Scheme()
	if isHTTP(first.URL) || !isHTTP(p.URL) {
		return nil, Usage.Errorf("only an HTTP proxy can be reached through another proxy, which must be a SOCKS proxy")
	}
	user, password, err := proxyUser(first.URL)
	if err != nil {
		return nil, err
	}
	if !proxy.Resolves(scheme) && !t.Addr.IsValid() {
		addrs, err := d.resolve(ctx, t, true)
		if err != nil {
			return nil, err
		}
		t = withAddr(t, scheme, addrs)
	}
	if blocked := d.policy.Blocked; blocked != nil && t.Addr.IsValid() && blocked(netip.AddrPortFrom(t.Addr.Unmap(), t.Port)) {
		return nil, rejectAddress("blocked address", t.Address())
	}
	c, err := d.dialProxy(ctx, first, g)
	if err != nil {
		return nil, err
	}
	g.trace.Connectionf("Establish a connection to the proxy %s through the %s proxy", t.Address(), scheme)
	o := proxy.Options{Login: httpauth.Login{User: user, Password: password}}
	if err := d.connectTunnel(ctx, c, first, t, o); err != nil {
		c.Close()
		return nil, proxyFault(err)
	}
	return connOf(c), nil
}

// nameScheme returns the scheme of the proxy whose rules for names apply. Users
// of socks4a and socks5h expect no DNS queries, also if an HTTP proxy follows.
func (p Proxy) nameScheme() string {
	if first := p.First.Scheme(); first == "socks4a" || first == "socks5h" {
		return first
	}
	return p.URL.Scheme()
}

// gatewayNameScheme returns the scheme of the proxy whose rules for names apply to
// the gateway of a request. The last address in Scheme.Trust is the gateway. It
// can be the HTTP proxy of the URL itself, or a server behind a proxy.
func (d *dialer) gatewayNameScheme(ctx context.Context, g *grant) (string, error) {
	if len(g.scheme.Trust) == 0 {
		return "http", nil
	}
	gateway, _, err := d.dialTarget(ctx, g, g.scheme.Trust[len(g.scheme.Trust)-1])
	if err != nil {
		return "", err
	}
	p, err := d.proxyFor(g.target)
	if err != nil {
		return "", err
	}
	if own, err := TargetOf(p.URL, proxyPorts[p.URL.Scheme()]); err != nil || !isHTTP(p.URL) || own.Host != gateway.Host {
		if p, err = d.proxyFor(gateway); err != nil {
			return "", err
		}
	}
	if names := p.nameScheme(); names == "socks4a" || names == "socks5h" {
		return names, nil
	}
	return "http", nil // the gateway resolves names
}
