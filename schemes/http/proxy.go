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
// line then holds the whole URL.
type proxy struct {
	uri     uri.URI
	addr    fetch.Target
	connect func(ctx context.Context, addr string) (net.Conn, error)
}

func newProxy(u uri.URI, connect func(ctx context.Context, addr string) (net.Conn, error)) (*proxy, error) {
	port, ok := proxyPorts[u.Scheme()]
	if !ok {
		return nil, fetch.Usage.Errorf("a proxy of scheme %s takes no http requests", u.Scheme())
	}
	t, err := fetch.TargetOf(u, port)
	if err != nil {
		return nil, err
	}
	return &proxy{uri: u, addr: t, connect: connect}, nil
}

var proxyPorts = map[string]uint16{"http": 1080, "https": 443}

// request makes the http.Request in absolute form (RFC 9112 3.2.2). Opaque is
// the one field that net/http sends as it is; it begins with a scheme, so that
// no path can pass for an authority in it.
func (p *proxy) request(ctx context.Context, a *ask, absolute string) (*http.Request, error) {
	h := toHTTP(a.header)
	if c, err := credential(p.uri); err != nil {
		return nil, err
	} else if c != nil && !has(a.header, "Proxy-Authorization") {
		h["Proxy-Authorization"] = []string{basic(c.User, c.Password.Reveal())}
	}
	r := &http.Request{
		Method: a.method,
		URL:    &url.URL{Scheme: p.uri.Scheme(), Host: p.addr.Address(), Opaque: absolute},
		Host:   a.host,
		Header: h,
	}
	return r.WithContext(ctx), nil
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
