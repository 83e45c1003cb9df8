package http

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
)

// Gateway returns a copy of the scheme s whose requests are sent to a gateway.
// A gateway is an HTTP server, such as a proxy, that fetches URLs of other
// schemes. The request line contains the complete URI. via is the URL of the
// gateway, in the form SCHEME://[USER:PASSWORD@]HOST:PORT with the scheme http
// or https.
//
// For ftp and ftps URLs, the gateway receives the credentials in the URI and in
// the Authorization field. Some servers read only one of the two. For other
// schemes, the gateway receives no credentials, also if it requires some. It
// never receives secret header fields of a request, such as Cookie. A Trace does
// not receive passwords.
//
// The Policy checks the server of the URL as for requests through a proxy. If
// the Policy blocks some addresses, the driver resolves the host name and sends
// the address to the gateway. Response.Peer is then this address. Otherwise it is
// not set, because the gateway connects to the server. A gateway does not receive
// the client certificates of [fetch.Options].
func Gateway(s fetch.Scheme, via uri.URI) fetch.Scheme {
	return newGateway(s, via, func(d *driver, t fetch.Target) func(context.Context) (*proxyRoute, error) {
		route := d.gatewayRoute(via, t)
		return func(context.Context) (*proxyRoute, error) { return route, nil }
	})
}

// ProxyGateway is like [Gateway] for an HTTP proxy that fetches URLs of other
// schemes. The ProxyFunc of the Client must return the same proxy for the URLs
// of s. Its TLS settings, its method of authentication and its header fields
// apply. The method Negotiate is not supported.
func ProxyGateway(s fetch.Scheme, via fetch.Proxy) fetch.Scheme {
	return newGateway(s, via.URL, func(d *driver, _ fetch.Target) func(context.Context) (*proxyRoute, error) {
		return func(ctx context.Context) (*proxyRoute, error) {
			if via.Negotiate != nil {
				return nil, fetch.Unsupported.Errorf("the method Negotiate works only in a tunnel through the proxy for %s URLs", s.Name)
			}
			return d.routeBy(ctx, via)
		}
	})
}

// newGateway returns a copy of s whose requests are sent to the gateway via. The
// function route returns the function that returns their route.
func newGateway(
	s fetch.Scheme, via uri.URI, route func(d *driver, gateway fetch.Target) func(context.Context) (*proxyRoute, error),
) fetch.Scheme {
	opts, port := &Options{}, s.Port
	s.Trust, s.Menu, s.Traits.ReportsSize, s.Gateway = nil, menu, true, true
	t, err := fetch.TargetOf(via, webPorts[via.Scheme()])
	if err == nil && (t.Port == 0 || t.Host == "" || webPorts[via.Scheme()] == 0) {
		err = fetch.Usage.Errorf("gateway %s is not http://HOST:PORT", via)
	}
	if err == nil {
		s.Trust = []string{t.Address()}
	}
	s.Plan = func(req *fetch.Request) ([]scheme.Step, error) {
		if err != nil {
			return nil, err
		}
		target, err := fetch.TargetOf(req.URL, port)
		if err != nil {
			return nil, err
		}
		wr, err := newGatewayRequest(req, port, t, target, opts)
		if err != nil {
			return nil, err
		}
		return wr.steps(), nil
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		d := newDriver(env, port, opts)
		d.gateway = route(d, t)
		d.newRequest = func(ctx context.Context, req *fetch.Request) (*wireRequest, error) {
			if err != nil {
				return nil, err
			}
			target, err := env.Net.Gateway(ctx)
			if err != nil {
				return nil, err
			}
			return newGatewayRequest(req, port, t, target, opts)
		}
		return d
	}
	return s
}

var webPorts = map[string]uint16{"http": 80, "https": 443}

// newGatewayRequest converts req to an HTTP request to a gateway. The gateway
// connects to target. The Host field contains the host name of the URL, and the
// port unless it is 80.
func newGatewayRequest(
	req *fetch.Request, port uint16, gateway, target fetch.Target, opts *Options,
) (*wireRequest, error) {
	if req.Outgoing != nil {
		return nil, fetch.Unsupported.Errorf("a gateway retrieves URLs, and cannot pass on the method %s", req.Outgoing.Method)
	}
	u := req.URL.WithoutFragment().WithoutUserinfo()
	address := gateway.Address()
	wr := &wireRequest{
		method: http.MethodGet, target: gateway, origin: target.Origin(), address: address,
		host: hostField(gateway, address, webPorts[gateway.Scheme]),
	}
	if target.Host != "" {
		original, err := fetch.TargetOf(u, port)
		if err != nil {
			return nil, err
		}
		defaultPort := webPorts["http"]
		if original.Port == 0 { // the scheme has no ports
			defaultPort = 0
		}
		wr.host = hostField(original, original.Address(), defaultPort)
		if original.Host != target.Host {
			wr.server = target.Addr
			if u, err = withAddress(u, target.Addr); err != nil {
				return nil, err
			}
		}
	}
	wr.path, wr.redactedPath = u.Unredacted(), u.String()
	visible := *req
	visible.Header = req.Header.Without(http1.IsSecretField) // intended for web servers
	if !gatewayLogsIn(u) {
		visible.Auth = nil
	} else if err := wr.addLogin(u, req.Auth); err != nil {
		return nil, err
	}
	return wr, wr.addHeader(&visible, opts)
}

// gatewayLogsIn reports whether a gateway receives the login for the server of u.
func gatewayLogsIn(u uri.URI) bool { return u.Scheme() == "ftp" || u.Scheme() == "ftps" }

// withAddress returns a copy of u in which an IP address replaces the host.
func withAddress(u uri.URI, addr netip.Addr) (uri.URI, error) {
	p := u.Parts()
	if p.Host = addr.WithZone("").String(); addr.Is6() {
		p.Host = "[" + p.Host + "]"
	}
	return uri.Build(p)
}

// addLogin adds a user name and a password to the URI on the request line.
func (wr *wireRequest) addLogin(u uri.URI, login *fetch.Credential) error {
	if login == nil || login.User == "" {
		return nil
	}
	if http1.HasControl(login.User) || http1.HasControl(login.Password.Reveal()) {
		return fetch.BadURL.Errorf("control character in a login")
	}
	p := u.Parts()
	p.Userinfo, p.HasUserinfo = uri.Escape(login.User, uri.RegNameChars), true
	if login.Password != "" {
		p.Userinfo += ":" + uri.Escape(login.Password.Reveal(), uri.RegNameChars)
	}
	full, err := uri.Build(p)
	wr.path, wr.redactedPath = full.Unredacted(), full.String()
	return err
}

// redact hides the secrets in the head of a request to a gateway before the head
// is passed to a Trace. Secrets are the password in the path and the values of
// secret header fields, also of those for the gateway itself.
func (wr *wireRequest) redact(out []byte) []byte {
	if wr.redactedPath == "" {
		return out
	}
	lines := strings.SplitAfter(strings.Replace(string(out), wr.path, wr.redactedPath, 1), "\r\n")
	for i, line := range lines {
		if name, _, ok := strings.Cut(line, ":"); i > 0 && ok && http1.IsSecretField(name) {
			lines[i] = name + ": ***\r\n"
		}
	}
	return []byte(strings.Join(lines, ""))
}

// gatewayRoute returns the route to a gateway. via is the URL of the gateway
// and t is its address.
func (d *driver) gatewayRoute(via uri.URI, t fetch.Target) *proxyRoute {
	dial := dialer{env: d.env, http1Only: true}
	if c := dial.env.TLS.Clone(); c != nil {
		c.Certificates, c.GetClientCertificate, c.ClientSessionCache = nil, nil, nil // those of the servers of URLs
		dial.env.TLS = c
	}
	p := &proxyRoute{host: t.Address()}
	p.connect = func(ctx context.Context, addr string) (net.Conn, *eofConn, error) {
		if t.Scheme == "https" {
			return dial.dialTLS(ctx, addr)
		}
		conn, err := dial.dialTCP(ctx, addr)
		return conn, nil, err
	}
	p.login, _ = fetch.CredentialOf(via)
	return p
}
