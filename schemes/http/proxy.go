package http

import (
	"context"
	"net"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// A proxyTo is where a request goes that is not sent to its origin: the
// request line then holds the whole URL. TLS with the proxy is not our affair.
type proxyTo struct {
	key     string // tells it from others, credentials included
	host    string // host:port
	front   string // of the absolute form, up to the path
	login   *fetch.Credential
	auth    fetch.ProxyAuth
	header  fetch.Header // for it alone
	connect func(ctx context.Context, addr string) (net.Conn, *ending, error)
}

// via is the proxy of the request in ctx, or nil.
func (d *driver) via(ctx context.Context) (*proxyTo, error) {
	if d.gate != nil {
		return d.gate, nil
	}
	via, ok, err := d.env.Net.Proxy(ctx)
	if !ok || err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(via.Proxy, 80) // the port only tells pools apart
	if err != nil {
		return nil, err
	}
	if err := validProxyFields(via.Header); err != nil {
		return nil, err
	}
	p := &proxyTo{
		key:    via.Proxy.Unredacted(),
		host:   t.Address(),
		front:  "http://" + hostField(via.Target, via.Target.Address(), d.port),
		auth:   via.Auth,
		header: via.Header,
	}
	p.connect = func(ctx context.Context, _ string) (net.Conn, *ending, error) {
		conn, err := d.env.Net.DialProxy(ctx)
		return conn, nil, err
	}
	p.login, err = fetch.CredentialOf(via.Proxy)
	return p, err
}

// validProxyFields returns an error for a field that may not be added to a
// request: what frames it or belongs to the origin, as in a CONNECT request.
func validProxyFields(h fetch.Header) error {
	for _, f := range h {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "trailer", "authorization", "cookie":
			return fetch.Usage.Errorf("proxy header field %s: not allowed", f.Name)
		}
	}
	return validFields(h)
}

// absolute is the request target: RFC 9112 3.2.2.
func (p *proxyTo) absolute(a *ask) string { return p.front + a.path + a.query }

func (p *proxyTo) fields(a *ask) (h fetch.Header) {
	switch {
	case a.proxyField != "":
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: a.proxyField})
	case p.login != nil && p.auth == fetch.ProxyBasic:
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: httpauth.BasicField(loginOf(p.login))})
	}
	return append(h, p.header...)
}
