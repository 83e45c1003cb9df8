package http

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/uri"
)

// Gateway returns s with a driver that sends its URLs to a gateway, which is a
// server that fetches them, such as a proxy. The request line holds the
// complete URI. Via is SCHEME://[USER:PASSWORD@]HOST:PORT of the gateway, http or
// https. The gateway gets the login of ftp and ftps, in the URI and in
// Authorization, because some servers read the one and some the other. It gets
// the user of no other URL. A Trace sees no password.
//
// The Policy judges the server of the URL as it does behind a proxy. Where it
// does not allow every address, the name is resolved here and the gateway gets
// the address. A Response has no Peer, because the gateway fetched the page.
func Gateway(s fetch.Scheme, via uri.URI) fetch.Scheme {
	opts, port := &Options{}, s.Port
	s.Trust, s.Menu, s.Traits.Sizes, s.Gateway = nil, menu, true, true
	t, err := fetch.TargetOf(via, webPorts[via.Scheme()])
	if err == nil && (t.Port == 0 || t.Host == "" || webPorts[via.Scheme()] == 0) {
		err = fetch.Usage.Errorf("gateway %s is not http://HOST:PORT", via)
	}
	if err == nil {
		s.Trust = []string{t.Address()}
	}
	s.Plan = func(req *fetch.Request) ([]fetch.Step, error) {
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
		d.gateway = d.gatewayRoute(via, t)
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

// newGatewayAsk writes the request for req to a gateway at t, which is to
// connect to beyond. The Host field has the name in the URL, with the port of
// every scheme but http's own.
func newGatewayRequest(req *fetch.Request, port uint16, gateway, target fetch.Target, opts *Options) (*wireRequest, error) {
	u := req.URL.WithoutFragment().WithoutUserinfo()
	address := gateway.Address()
	wr := &wireRequest{method: http.MethodGet, target: gateway, origin: target.Origin(), address: address, host: hostField(gateway, address, webPorts[gateway.Scheme])}
	if target.Host != "" {
		original, err := fetch.TargetOf(u, port)
		if err != nil {
			return nil, err
		}
		defaultPort := webPorts["http"]
		if original.Port == 0 { // of a scheme without ports
			defaultPort = 0
		}
		wr.host = hostField(original, original.Address(), defaultPort)
		if original.Host != target.Host {
			if u, err = withAddress(u, target.Addr); err != nil {
				return nil, err
			}
		}
	}
	wr.path = u.Unredacted()
	visible := *req
	switch u.Scheme() {
	case "ftp", "ftps":
		if err := wr.addLogin(u, req.Auth); err != nil {
			return nil, err
		}
	default:
		visible.Auth = nil
	}
	return wr, wr.addHeader(&visible, opts)
}

// withAddress returns u with an address in place of its host.
func withAddress(u uri.URI, addr netip.Addr) (uri.URI, error) {
	p := u.Parts()
	if p.Host = addr.WithZone("").String(); addr.Is6() {
		p.Host = "[" + p.Host + "]"
	}
	return uri.Build(p)
}

// addLogin writes a login into the URI on the request line.
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

// told is what a Trace hears of the request that is out.
func (wr *wireRequest) redact(out []byte) []byte {
	if wr.redactedPath == "" {
		return out
	}
	text := strings.Replace(string(out), wr.path, wr.redactedPath, 1)
	for _, f := range wr.header {
		if fetch.SecretHeader(f.Name) {
			text = strings.Replace(text, f.Name+": "+f.Value, f.Name+": ***", 1)
		}
	}
	return []byte(text)
}

// gateway is the way to via, whose address is t.
func (d *driver) gatewayRoute(via uri.URI, t fetch.Target) *proxyRoute {
	dial := dialer{env: d.env, http1Only: true}
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
