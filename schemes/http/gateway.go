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
		beyond, err := fetch.TargetOf(req.URL, port)
		if err != nil {
			return nil, err
		}
		a, err := newGatewayAsk(req, port, t, beyond, opts)
		if err != nil {
			return nil, err
		}
		return a.steps(), nil
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		d := newDriver(env, port, opts)
		d.gate = d.gateway(via, t)
		d.ask = func(ctx context.Context, req *fetch.Request) (*ask, error) {
			if err != nil {
				return nil, err
			}
			beyond, err := env.Net.Gateway(ctx)
			if err != nil {
				return nil, err
			}
			return newGatewayAsk(req, port, t, beyond, opts)
		}
		return d
	}
	return s
}

var webPorts = map[string]uint16{"http": 80, "https": 443}

// newGatewayAsk writes the request for req to a gateway at t, which is to
// connect to beyond. The Host field has the name in the URL, with the port of
// every scheme but http's own.
func newGatewayAsk(req *fetch.Request, port uint16, t, beyond fetch.Target, opts *Options) (*ask, error) {
	u := req.URL.WithoutFragment().WithoutUserinfo()
	address := t.Address()
	a := &ask{method: http.MethodGet, target: t, origin: beyond.Origin(), address: address, host: hostField(t, address, webPorts[t.Scheme])}
	if beyond.Host != "" {
		named, err := fetch.TargetOf(u, port)
		if err != nil {
			return nil, err
		}
		usual := webPorts["http"]
		if named.Port == 0 { // of a scheme without ports
			usual = 0
		}
		a.host = hostField(named, named.Address(), usual)
		if named.Host != beyond.Host {
			if u, err = withAddress(u, beyond.Addr); err != nil {
				return nil, err
			}
		}
	}
	a.path = u.Unredacted()
	shown := *req
	switch u.Scheme() {
	case "ftp", "ftps":
		if err := a.addLogin(u, req.Auth); err != nil {
			return nil, err
		}
	default:
		shown.Auth = nil
	}
	return a, a.addHeader(&shown, opts)
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
func (a *ask) addLogin(u uri.URI, login *fetch.Credential) error {
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
	a.path, a.shown = full.Unredacted(), full.String()
	return err
}

// told is what a Trace hears of the request that is out.
func (a *ask) told(out []byte) []byte {
	if a.shown == "" {
		return out
	}
	text := strings.Replace(string(out), a.path, a.shown, 1)
	for _, f := range a.header {
		if fetch.SecretHeader(f.Name) {
			text = strings.Replace(text, f.Name+": "+f.Value, f.Name+": ***", 1)
		}
	}
	return []byte(text)
}

// gateway is the way to via, whose address is t.
func (d *driver) gateway(via uri.URI, t fetch.Target) *proxyTo {
	dial := dialer{env: d.env, old: true}
	p := &proxyTo{host: t.Address()}
	p.connect = func(ctx context.Context, addr string) (net.Conn, *ending, error) {
		if t.Scheme == "https" {
			return dial.secure(ctx, addr)
		}
		conn, err := dial.plain(ctx, addr)
		return conn, nil, err
	}
	p.login, _ = fetch.CredentialOf(via)
	return p
}
