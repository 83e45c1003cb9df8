package http

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A proxy is where a request goes that is not sent to its origin: the request
// line then holds the whole URL. TLS with the proxy is not our affair.
type proxy struct {
	key     string // tells it from others, credentials included
	host    string // host:port
	login   *fetch.Credential
	header  fetch.Header // for it alone
	connect func(ctx context.Context, addr string) (net.Conn, error)
}

func (d *driver) proxy(via fetch.Via) (*proxy, error) {
	t, err := fetch.TargetOf(via.Proxy, 80) // the port only tells pools apart
	if err != nil {
		return nil, err
	}
	p := &proxy{key: via.Proxy.Unredacted(), host: t.Address(), header: via.Header}
	p.connect = func(ctx context.Context, _ string) (net.Conn, error) { return d.env.Net.DialProxy(ctx) }
	p.login, err = credential(via.Proxy)
	return p, err
}

// request makes the http.Request in absolute form (RFC 9112 3.2.2). Opaque is
// the one field that net/http sends as it is; it begins with a scheme, so that
// no path can pass for an authority in it.
func (p *proxy) request(ctx context.Context, a *ask, absolute string) *http.Request {
	h := toHTTP(a.header)
	if p.login != nil {
		h["Proxy-Authorization"] = []string{basic(p.login.User, p.login.Password.Reveal())}
	}
	for _, f := range p.header {
		h[f.Name] = append(h[f.Name], f.Value)
	}
	r := &http.Request{
		Method: a.method,
		URL:    &url.URL{Scheme: "http", Host: p.host, Opaque: absolute},
		Host:   a.host,
		Header: h,
	}
	return r.WithContext(ctx)
}

// credential reads the userinfo of a proxy's URL.
func credential(u uri.URI) (*fetch.Credential, error) {
	name, password, has := u.User()
	if name == "" && !has {
		return nil, nil
	}
	user, err := uri.Unescape(name)
	if err != nil {
		return nil, fetch.Usage.With(err)
	}
	if password, err = uri.Unescape(password); err != nil {
		return nil, fetch.Usage.With(err)
	}
	return &fetch.Credential{User: user, Password: fetch.Secret(password)}, nil
}
