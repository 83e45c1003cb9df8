package http

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/anyurl/fetch/fetch"
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
	connect func(ctx context.Context, addr string) (net.Conn, error)
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
	p := &proxyTo{
		key:    via.Proxy.Unredacted(),
		host:   t.Address(),
		front:  "http://" + hostField(via.Target, d.port),
		auth:   via.Auth,
		header: via.Header,
	}
	p.connect = func(ctx context.Context, _ string) (net.Conn, error) { return d.env.Net.DialProxy(ctx) }
	p.login, err = fetch.CredentialOf(via.Proxy)
	return p, err
}

// absolute is the request target: RFC 9112 3.2.2.
func (p *proxyTo) absolute(a *ask) string { return p.front + a.path + a.query }

// request makes the http.Request in absolute form. Opaque is the one field
// that net/http sends as it is; it begins with a scheme, so that no path can
// pass for an authority in it.
func (p *proxyTo) request(ctx context.Context, a *ask) *http.Request {
	r := &http.Request{
		Method: a.method,
		URL:    &url.URL{Scheme: "http", Host: p.host, Opaque: p.absolute(a)},
		Host:   a.host,
		Header: toHTTP(append(a.header[:len(a.header):len(a.header)], p.fields(a)...)),
	}
	return r.WithContext(ctx)
}

func (p *proxyTo) fields(a *ask) (h fetch.Header) {
	switch {
	case a.proxyField != "":
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: a.proxyField})
	case p.login != nil && p.auth == fetch.ProxyBasic:
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: basic(p.login.User, p.login.Password.Reveal())})
	}
	return append(h, p.header...)
}
