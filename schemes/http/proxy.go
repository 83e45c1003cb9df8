package http

import (
	"context"
	"net"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// A proxyRoute is a proxy or gateway that receives requests in place of the
// origin. The request line then has the complete URL. fetch.Net performs the
// TLS handshake with a proxy.
type proxyRoute struct {
	key       string // part of the pool key, with the credentials
	host      string // host:port
	urlPrefix string // part of the request target before the path
	login     *fetch.Credential
	auth      fetch.ProxyAuth
	header    fetch.Header // additional fields for the proxy
	connect   func(ctx context.Context, addr string) (net.Conn, *eofConn, error)
}

// route returns the gateway or proxy of the request in ctx, or nil if the
// request is sent to its origin.
func (d *driver) route(ctx context.Context) (*proxyRoute, error) {
	if d.gateway != nil {
		return d.gateway, nil
	}
	via, ok, err := d.env.Net.Proxy(ctx)
	if !ok || err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(via.Proxy, 80) // the port is used only in the pool key
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

// validateProxyFields returns an error for fields of a proxy that frame the
// request or are meant for the origin.
func validateProxyFields(h fetch.Header) error {
	for _, f := range h {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "trailer", "authorization", "cookie":
			return fetch.Usage.Errorf("proxy header field %s: not allowed", f.Name)
		}
	}
	return validateFields(h)
}

// requestTarget returns the request target in absolute form (RFC 9112 3.2.2).
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
