package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// A Proxy describes a proxy server and how to use it. The zero Proxy means a
// direct connection.
type Proxy struct {
	// URL has the form SCHEME://[USER:PASSWORD@]HOST:PORT, where SCHEME is
	// http, https, socks4, socks4a, socks5 or socks5h. With socks4a and
	// socks5h, the proxy resolves names.
	URL uri.URI

	// First is the URL of a SOCKS proxy through which the Client connects to an
	// HTTP proxy, like the curl option --preproxy. With the zero value, the Client
	// connects to the proxy itself.
	First uri.URI

	Auth   ProxyAuth   // how to authenticate to an HTTP proxy
	Header Header      // header fields that only an HTTP proxy receives
	Tunnel bool        // use CONNECT for http URLs instead of the absolute form
	TLS    *tls.Config // for connections to an https proxy; nil means Options.TLS without its client certificates

	// Negotiate returns a token for the method Negotiate (RFC 4559), which is
	// sent with the next request to an HTTP proxy. It connects to other servers
	// only with dial. Login and Auth are then not used. It may be nil. It is not
	// called for a SOCKS proxy.
	Negotiate func(ctx context.Context, dial func(ctx context.Context, addr string) (net.Conn, error)) (string, error)
}

// ProxyAuth is the method of authentication to an HTTP proxy.
type ProxyAuth uint8

const (
	ProxyBasic  ProxyAuth = iota // Basic, sent with the first request
	ProxyDigest                  // Digest (RFC 7616), after a challenge
	ProxyAny                     // Digest if the proxy offers it, otherwise Basic; after a challenge
)

// A ProxyFunc returns the Proxy for connections to a target. A Client calls it
// for every connection, and may call it from several goroutines at the same
// time. It must always return the same Proxy for the same target.
type ProxyFunc func(Target) (Proxy, error)

// dialThroughProxy connects to the target t through a proxy. The Policy has
// already checked the name and the port. If the Policy denies some addresses or
// a server supplied the name, dialThroughProxy resolves the name and sends an
// allowed address to the proxy.
func (d *dialer) dialThroughProxy(ctx context.Context, network string, via Proxy, g *grant, t Target) (net.Conn, error) {
	if network != "tcp" {
		return nil, Unsupported.Errorf("UDP cannot be used through a proxy: %s", t.Address())
	}
	t, err := d.proxyRequestTarget(ctx, via.nameScheme(), g, t)
	if err != nil {
		return nil, err
	}
	c, err := d.dialTunnel(ctx, via, g, t)
	if own := connOf(c); err == nil && t.Addr.IsValid() && (!g.typed || d.policy.reach == publicOnly) {
		own.peer = netip.AddrPortFrom(t.Addr, t.Port) // links on the page are judged by this address
	}
	return c, err
}

// proxyRequestTarget returns the host and port to send to a proxy. The host is
// an IP address that the Policy allows, or a name that the proxy may resolve.
func (d *dialer) proxyRequestTarget(ctx context.Context, scheme string, g *grant, t Target) (Target, error) {
	if unresolved, err := d.sendsName(ctx, scheme, g, t); unresolved || err != nil {
		return t, err
	}
	addrs, err := d.resolveAllowed(ctx, g, t)
	if f := FaultOf(err); f == DNS || f == Timeout && ctx.Err() == nil {
		if d.trustsProxies(ctx) && proxy.Resolves(scheme) && !isPrivateName(t.Host) && !d.resolvesInternet(ctx) {
			return t, nil
		}
		if g.typed {
			return t, err
		}
		return t, DNS.Errorf("a server led to a name whose address must be checked before the proxy connects to it: %w", err)
	}
	if err != nil {
		return t, err
	}
	return withAddr(t, scheme, addrs), nil
}

// withAddr returns t with the first of addrs that a proxy of the given scheme can
// use. SOCKS4 has only IPv4.
func withAddr(t Target, scheme string, addrs []netip.Addr) Target {
	t.Addr = addrs[0]
	if i := slices.IndexFunc(addrs, netip.Addr.Is4); i >= 0 && scheme == "socks4" {
		t.Addr = addrs[i]
	}
	t.Host = t.Addr.String()
	return t
}

// trustsProxies reports whether proxies may resolve the names of public servers.
func (d *dialer) trustsProxies(ctx context.Context) bool {
	return d.policy.reach == anywhere || d.policy.reach == publicOnly && proxy.HasNames(ctx)
}

// sendsName reports whether the proxy gets the host of t unchanged. This is the
// case for an address, which the Policy has checked. It is the case for a name if
// trustsProxies returns true and the proxy resolves names. The user or a
// page of the same host must have named it. The proxy must have resolved the name
// for this page too, because another answer of DNS could be private. With socks4a
// and socks5h, only the proxy resolves names. The dialer then rejects names of
// other hosts that are not public.
func (d *dialer) sendsName(ctx context.Context, scheme string, g *grant, t Target) (bool, error) {
	switch {
	case t.Addr.IsValid():
		return true, nil
	case !d.trustsProxies(ctx) || !proxy.Resolves(scheme):
		return false, nil
	case d.policy.reach == anywhere && g.typed, g.configured, g.isUnresolved(t):
		return true, nil
	case scheme != "socks4a" && scheme != "socks5h":
		return false, nil
	case isPrivateName(t.Host) && g.typed:
		return false, rejectAddress("a name of a private network through a proxy", t.Host)
	case isPrivateName(t.Host):
		return false, rejectAddress("a server led to a name of a private network through a proxy", t.Host)
	}
	return true, nil
}

func (d *dialer) Proxy(ctx context.Context) (Proxy, Target, error) {
	g := grantOf(ctx)
	if g == nil {
		return Proxy{}, Target{}, rejectAddress("connection without a request", "")
	}
	if !g.scheme.Traits.Web || g.scheme.Secure {
		return Proxy{}, Target{}, nil // DialContext opens a tunnel
	}
	p, err := d.proxyFor(g.target)
	if err != nil || !isHTTP(p.URL) || p.Tunnel {
		return Proxy{}, Target{}, err
	}
	t, err := d.proxyRequestTarget(ctx, p.nameScheme(), g, g.target)
	switch {
	case err != nil || t.Host == g.target.Host:
		return p, t, err
	case d.refusesTunnels(p):
		return p, g.target, nil
	}
	return Proxy{}, Target{}, nil // DialContext opens a tunnel to the address
}

func (d *dialer) Gateway(ctx context.Context) (Target, error) {
	g := grantOf(ctx)
	if g == nil {
		return Target{}, rejectAddress("connection without a request", "")
	}
	t := g.target
	if t.Host == "" {
		return t, nil
	}
	// If the scheme has no port, no earlier step has checked the host.
	if err := d.policy.checkTarget(g, t); err != nil {
		return t, err
	}
	names, err := d.gatewayNameScheme(ctx, g)
	if err != nil {
		return t, err
	}
	return d.proxyRequestTarget(ctx, names, g, t)
}

// dialConfigured connects to a server of the configuration, such as a KDC.
func (d *dialer) dialConfigured(ctx context.Context, addr string) (net.Conn, error) {
	g := grantOf(ctx)
	if g == nil {
		return nil, rejectAddress("connection without a request", addr)
	}
	t, _, err := d.dialTarget(ctx, g, addr)
	if err != nil {
		return nil, err
	}
	return d.connect(ctx, "tcp", g.withConfiguredTarget(), t)
}

func isHTTP(proxy uri.URI) bool { return proxy.Scheme() == "http" || proxy.Scheme() == "https" }

func (d *dialer) DialProxy(ctx context.Context) (net.Conn, error) {
	g := grantOf(ctx)
	if g == nil {
		return nil, rejectAddress("connection without a request", "")
	}
	p, err := d.proxyFor(g.target)
	if err != nil {
		return nil, err
	}
	return d.dialProxy(ctx, p, g)
}

// proxyPorts maps the scheme of a proxy URL to its default port.
var proxyPorts = map[string]uint16{"http": 1080, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080}

// dialProxy connects to the proxy server. For an https proxy, it performs a TLS
// handshake. The Policy is not applied, because the proxy was configured. The
// connection has no peer, because the address of the target is unknown.
func (d *dialer) dialProxy(ctx context.Context, p Proxy, g *grant) (net.Conn, error) {
	t, err := TargetOf(p.URL, proxyPorts[p.URL.Scheme()])
	if err != nil {
		return nil, err
	}
	if t.Host == "" || t.Port == 0 {
		return nil, Usage.Errorf("proxy %s is not SCHEME://HOST:PORT", p.URL)
	}
	c, err := d.connectProxy(ctx, p, g, t)
	if err != nil {
		return nil, err
	}
	c.proxy = p
	if p.URL.Scheme() != "https" {
		return c, nil
	}
	return d.handshakeProxy(ctx, c, p, t)
}

// connectProxy connects to the proxy p, whose host and port are t.
func (d *dialer) connectProxy(ctx context.Context, p Proxy, g *grant, t Target) (*conn, error) {
	if !p.First.IsZero() {
		return d.dialSecondProxy(ctx, p, g, t)
	}
	addrs, err := d.resolve(ctx, t, true)
	if err != nil {
		return nil, err
	}
	raw, err := d.race(ctx, "tcp", addrs, t.Port, func(netip.Addr) error { return nil })
	if err != nil {
		return nil, err
	}
	c := d.newConn(raw.conn, g, netip.AddrPort{}, g.target.Host)
	reportConnected(g.trace, c, t.Host, raw.addr)
	return c, nil
}

func (d *dialer) handshakeProxy(ctx context.Context, c net.Conn, p Proxy, t Target) (net.Conn, error) {
	config := p.TLS.Clone()
	if config == nil {
		if config = d.tls.Clone(); config != nil {
			config.Certificates, config.GetClientCertificate, config.ClientSessionCache = nil, nil, nil // those of the target
		}
	}
	if config != nil {
		config.ServerName = "" // the name of a target, not of the proxy
	}
	secure, err := handshake(ctx, c, config, t.Origin().Host, d.policy.connectTime(), []string{"http/1.1"})
	if err == nil {
		return secure, nil // otherwise the net.Conn would contain a nil *tls.Conn
	}
	var verify *tls.CertificateVerificationError
	if errors.As(err, &verify) {
		err = override.With(TLS.Errorf("proxy %s: %w", t.Address(), err), override.Setting{Kind: override.ProxyTLS})
	}
	return nil, err
}

// dialTunnel opens a tunnel to t through the proxy p. If the proxy requires
// authentication and closes the connection, dialTunnel opens a second
// connection with the credentials.
func (d *dialer) dialTunnel(ctx context.Context, p Proxy, g *grant, t Target) (net.Conn, error) {
	user, password, err := proxyUser(p.URL)
	if err != nil {
		return nil, err
	}
	o := proxy.Options{Login: httpauth.Login{User: user, Password: password}, Auth: httpauth.Method(p.Auth), Agent: "fetch",
		Sent: g.trace.SentHead, Received: g.trace.ReceivedHead}
	for _, f := range p.Header {
		o.Header = append(o.Header, proxy.Field(f))
	}
	if p.Negotiate != nil && isHTTP(p.URL) {
		token, err := p.Negotiate(ctx, d.dialConfigured)
		if err != nil {
			return nil, err
		}
		o.Login = httpauth.Login{}
		o.Header = append(o.Header, proxy.Field{Name: "Proxy-Authorization", Value: "Negotiate " + token})
	}
	for again := false; ; again = true {
		c, err := d.dialProxy(ctx, p, g)
		if err != nil {
			return nil, err
		}
		g.trace.Connectionf("Establish a tunnel to %s through the %s proxy", t.Address(), p.URL.Scheme())
		err = d.connectTunnel(ctx, c, p, t, o)
		if err == nil {
			g.trace.Connectionf("The tunnel to %s is established", t.Address())
			connOf(c).host = t.Host
			return c, nil
		}
		c.Close()
		var login *proxy.AuthRequiredError
		if again || !errors.As(err, &login) || !login.Redial {
			return nil, d.noteRefusal(p, g, proxyFault(err))
		}
		o.Challenges = login.Challenges
	}
}

func (d *dialer) connectTunnel(ctx context.Context, c net.Conn, p Proxy, t Target, o proxy.Options) error {
	limit := 3 * d.policy.connectTime()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := proxy.Connect(within, c, p.URL.Scheme(), t.Address(), o)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return Timeout.Errorf("proxy did not respond within %v: %w", limit, err)
	}
	return err
}

// proxyUser returns the user name and the password in a proxy URL.
func proxyUser(u uri.URI) (user, password string, err error) {
	c, err := CredentialOf(u)
	if c == nil || err != nil {
		return "", "", err
	}
	return c.User, c.Password.Reveal(), nil
}

// proxyOverride returns the setting that enables authentication to a proxy with
// the given challenges. By default, only Basic authentication is enabled.
func proxyOverride(challenges []httpauth.Challenge) override.Setting {
	if httpauth.OnlyDigest(challenges) {
		return override.Setting{Kind: override.ProxyAuth}
	}
	return override.Setting{Kind: override.ProxyLogin}
}

// proxyFault adds a Fault to the error of a proxy connection. If the proxy
// requires authentication, it also adds the setting that enables it.
func proxyFault(err error) error {
	var login *proxy.AuthRequiredError
	var refused *proxy.RefusedError
	switch {
	case errors.As(err, &login):
		return override.With(Auth.With(err), proxyOverride(login.Challenges))
	case errors.As(err, &refused):
		return &Error{Code: refused.Code, Err: Connect.With(err)}
	case errors.Is(err, proxy.ErrMalformed), errors.Is(err, proxy.ErrTooLong):
		return Protocol.With(err)
	case errors.Is(err, proxy.ErrClosed):
		return Connect.With(err)
	case errors.Is(err, proxy.ErrTarget), errors.Is(err, proxy.ErrOption):
		return Usage.With(err)
	}
	return err
}
