package http

import (
	"context"
	"net"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Gateway makes a scheme of a server that fetches URLs of that scheme for
// others, such as a proxy: the whole URI stands on the request line. Name and
// port are those of the scheme, via is SCHEME://[USER:PASSWORD@]HOST:PORT of
// the gateway, http or https. The user of the URL is not shown to it.
func Gateway(name string, port uint16, via uri.URI) fetch.Scheme {
	opts := &Options{}
	s := fetch.Scheme{Name: name, Port: port, Menu: menu}
	t, err := fetch.TargetOf(via, webPorts[via.Scheme()])
	if err == nil && (t.Port == 0 || t.Host == "" || webPorts[via.Scheme()] == 0) {
		err = fetch.Usage.Errorf("gateway %s is not http://HOST:PORT", via)
	}
	if err == nil {
		s.Trust = []string{t.Address()}
	}
	ask := func(req *fetch.Request) (*ask, error) {
		if err != nil {
			return nil, err
		}
		return newGatewayAsk(req, t, opts)
	}
	s.Plan = func(req *fetch.Request) ([]fetch.Step, error) {
		a, err := ask(req)
		if err != nil {
			return nil, err
		}
		return a.steps(), nil
	}
	s.Open = func(env fetch.Env) fetch.Driver {
		d := newDriver(env, port, opts)
		d.ask, d.gate = ask, d.gateway(via, t)
		return d
	}
	return s
}

var webPorts = map[string]uint16{"http": 80, "https": 443}

// newGatewayAsk writes the request for req to a gateway at t.
func newGatewayAsk(req *fetch.Request, t fetch.Target, opts *Options) (*ask, error) {
	u := req.URL.WithoutFragment().WithoutUserinfo()
	a := &ask{method: http.MethodGet, target: t, path: u.Unredacted()}
	if a.host, _ = u.Authority(); a.host == "" {
		a.host = hostField(t, webPorts[t.Scheme])
	}
	anonymous := req.Clone()
	anonymous.Auth = nil
	return a, a.addHeader(anonymous, opts)
}

// gateway is the way to via, whose address is t.
func (d *driver) gateway(via uri.URI, t fetch.Target) *proxyTo {
	dial := dialer{env: d.env, old: true}
	p := &proxyTo{host: t.Address()}
	p.connect = func(ctx context.Context, addr string) (net.Conn, *ending, error) {
		if t.Scheme == "https" {
			return dial.shake(ctx, addr)
		}
		conn, err := dial.plain(ctx, addr)
		return conn, nil, err
	}
	p.login, _ = fetch.CredentialOf(via)
	return p
}
