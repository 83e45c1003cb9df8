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
type proxyRoute struct {
	key       string // tells it from others, credentials included
	host      string // host:port
	urlPrefix string // of the absolute form, up to the path
	login     *fetch.Credential
	auth      fetch.ProxyAuth
	header    fetch.Header // for it alone
	connect   func(ctx context.Context, addr string) (net.Conn, *eofConn, error)
}

// via is the proxy of the request in ctx, or nil.
func (d *driver) route(ctx context.Context) (*proxyRoute, error) {
	if d.gateway != nil {
		return d.gateway, nil
	}
	via, ok, err := d.env.Net.Proxy(ctx)
	if !ok || err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(via.Proxy, 80) // the port only tells pools apart
	if err != nil {
		return nil, err
	}
	if err := validateProxyFields(via.Header); err != nil {
		return nil, err
	}
	p := &proxyRoute{
		key:       via.Proxy.Unredacted(),
		host:      t.Address(),
		urlPrefix: "http://" + hostField(via.Target, via.Target.Address(), d.port),
		auth:      via.Auth,
		header:    via.Header,
	}
	p.connect = func(ctx context.Context, _ string) (net.Conn, *eofConn, error) {
		conn, err := d.env.Net.DialProxy(ctx)
		return conn, nil, err
	}
	p.login, err = fetch.CredentialOf(via.Proxy)
	return p, err
}

// validProxyFields returns an error for a field that may not be added to a
// request: what frames it or belongs to the origin, as in a CONNECT request.
func validateProxyFields(h fetch.Header) error {
	for _, f := range h {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "trailer", "authorization", "cookie":
			return fetch.Usage.Errorf("proxy header field %s: not allowed", f.Name)
		}
	}
	return validateFields(h)
}

// absolute is the request target: RFC 9112 3.2.2.
func (p *proxyRoute) requestTarget(wr *wireRequest) string { return p.urlPrefix + wr.path + wr.query }

func (p *proxyRoute) fields(wr *wireRequest) (h fetch.Header) {
	switch {
	case wr.proxyAuth != "":
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: wr.proxyAuth})
	case p.login != nil && p.auth == fetch.ProxyBasic:
		h = append(h, fetch.Field{Name: "Proxy-Authorization", Value: httpauth.BasicField(loginOf(p.login))})
	}
	return append(h, p.header...)
}
