package http

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// A proxyRoute is a proxy or gateway to which requests are sent instead of the
// origin server. The request line contains the complete URL. fetch.Net performs
// the TLS handshake with a proxy.
type proxyRoute struct {
	key       string     // part of the pool key, including the credentials
	host      string     // host:port
	server    netip.Addr // address of the origin server, or zero if the proxy resolves its name
	urlPrefix string     // scheme and host before the path in the request target, or ""
	login     *fetch.Credential
	auth      fetch.ProxyAuth
	header    fetch.Header // additional fields for the proxy
	connect   func(ctx context.Context, addr string) (net.Conn, *eofConn, error)
}

// route returns the proxy or gateway to which the request is sent. It returns
// nil if the request is sent to the origin server.
func (d *driver) route(ctx context.Context) (*proxyRoute, error) {
	if d.gateway != nil {
		return d.gateway(ctx)
	}
	via, server, err := d.env.Net.Proxy(ctx)
	if err != nil || via.URL.IsZero() {
		return nil, err
	}
	p, err := d.routeBy(ctx, via)
	if err != nil {
		return nil, err
	}
	p.server, p.urlPrefix = server.Addr, "http://"+hostField(server, server.Address(), d.port)
	return p, nil
}

// routeBy returns the route through an HTTP proxy.
func (d *driver) routeBy(ctx context.Context, via fetch.Proxy) (*proxyRoute, error) {
	t, err := fetch.TargetOf(via.URL, 80) // the default port 80 is used only in the pool key
	if err != nil {
		return nil, err
	}
	if err := validateProxyFields(via.Header); err != nil {
		return nil, err
	}
	p := &proxyRoute{
		key:    via.URL.Unredacted() + " " + via.First.Unredacted(),
		host:   t.Address(),
		auth:   via.Auth,
		header: via.Header,
	}
	p.connect = func(ctx context.Context, _ string) (net.Conn, *eofConn, error) {
		conn, err := d.env.Net.DialProxy(ctx)
		return conn, nil, err
	}
	if via.Negotiate != nil {
		token, err := via.Negotiate(ctx, func(ctx context.Context, addr string) (net.Conn, error) {
			return d.env.Net.DialContext(proxy.Configured(ctx), "tcp", addr) // as for a tunnel
		})
		if err != nil {
			return nil, err
		}
		p.header = append(fetch.Header{{Name: "Proxy-Authorization", Value: "Negotiate " + token}}, p.header...)
		return p, nil
	}
	p.login, err = fetch.CredentialOf(via.URL)
	return p, err
}

// validateProxyFields returns an error if h contains a field that is not
// allowed for a proxy. Fields that describe the body or are intended for the
// origin server are not allowed.
func validateProxyFields(h fetch.Header) error {
	for _, f := range h {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "trailer", "authorization", "cookie":
			return fetch.Usage.Errorf("proxy header field %s: not allowed", f.Name)
		}
	}
	return validateFields(h)
}

// requestTarget returns the complete URL for the request line (RFC 9112 3.2.2).
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
