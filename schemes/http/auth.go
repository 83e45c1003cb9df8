package http

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/proxy"
)

// Auth says how a user is proved to a server: RFC 9110 11.
type Auth uint8

const (
	Basic   Auth = iota // sent without being asked; for a login that is asked for, see AnyAuth
	Digest              // RFC 7616, when the server asks
	AnyAuth             // when the server asks, Digest before Basic
)

// maxLogins is how often the user is asked for one object.
const maxLogins = 3

// An answer is what an ask does about challenges.
type answer struct {
	credential *fetch.Credential // that was tried last
	to         proxy.Challenge   // that was answered last
	logins     int               // how often Env.Login was asked
	stale      bool              // a nonce was too old once
	proxied    bool              // the proxy's challenge was answered
}

// login returns a with the answer to the challenge of resp, or nil where there
// is none to give.
func (d *driver) login(ctx context.Context, req *fetch.Request, a *ask, x *exchange) (*ask, error) {
	switch x.code {
	case http.StatusUnauthorized:
		if has(req.Header, "Authorization") {
			return nil, nil
		}
		return d.loginOrigin(ctx, req, a, proxy.ParseChallenges(x.header.Values("WWW-Authenticate")))
	case http.StatusProxyAuthRequired:
		if x.via == nil {
			return nil, nil
		}
		return x.via.answer(a, proxy.ParseChallenges(x.header.Values("Proxy-Authenticate"))), nil
	}
	return nil, nil
}

func (d *driver) loginOrigin(ctx context.Context, req *fetch.Request, a *ask, list []proxy.Challenge) (*ask, error) {
	b := *a
	mode := d.opts.Auth
	switch {
	case b.credential != nil && !b.stale && isStale(list):
		b.stale = true
		mode = Digest
	case req.Auth != nil:
		if b.credential != nil || mode == Basic || req.Auth.Token != "" {
			return nil, nil
		}
		b.credential = req.Auth
	case d.env.Login == nil || b.logins == maxLogins || len(list) == 0:
		return nil, nil
	default:
		if mode == Basic {
			mode = AnyAuth
		}
		c, err := d.env.Login(ctx, fetch.Challenge{
			Origin: a.target.Origin(),
			User:   userOf(req),
			Realm:  list[0].Params["realm"],
			Again:  b.logins > 0,
		})
		if c == nil || err != nil {
			return nil, err
		}
		b.credential = c
		b.logins++
	}
	field, to := b.prove(mode, list)
	if field == "" {
		return nil, nil
	}
	b.to = to
	b.replace("Authorization", field)
	return &b, nil
}

func userOf(req *fetch.Request) string {
	user, _, _ := req.URL.User()
	return user
}

func isStale(list []proxy.Challenge) bool {
	return len(list) > 0 && list[0].Scheme == "digest" && list[0].Params["stale"] == "true"
}

// prove answers the best of the challenges that mode allows, or none: "".
func (a *ask) prove(mode Auth, list []proxy.Challenge) (field string, to proxy.Challenge) {
	c := a.credential
	if c.Token != "" {
		return "Bearer " + c.Token.Reveal(), to
	}
	return prove(proxy.Login{User: c.User, Password: c.Password.Reveal()}, mode, list, a.method, a.path+a.query)
}

func prove(l proxy.Login, mode Auth, list []proxy.Challenge, method, target string) (field string, to proxy.Challenge) {
	schemes := map[Auth][]string{Basic: {"basic"}, Digest: {"digest"}, AnyAuth: {"digest", "basic"}}[mode]
	for _, scheme := range schemes {
		for _, c := range list {
			if c.Scheme != scheme {
				continue
			}
			if field, err := c.Answer(l, method, target, 1); err == nil {
				return field, c
			}
		}
	}
	return "", to
}

// answer is for a proxy's challenge to the absolute form: once.
func (p *proxyTo) answer(a *ask, list []proxy.Challenge) *ask {
	if a.proxied || p.login == nil || p.auth == fetch.ProxyBasic {
		return nil
	}
	mode := map[fetch.ProxyAuth]Auth{fetch.ProxyDigest: Digest, fetch.ProxyAny: AnyAuth}[p.auth]
	l := proxy.Login{User: p.login.User, Password: p.login.Password.Reveal()}
	field, _ := prove(l, mode, list, a.method, p.absolute(a))
	if field == "" {
		return nil
	}
	b := *a
	b.proxied, b.proxyField = true, field
	return &b
}

// replace sets one field; the header of no other ask changes.
func (a *ask) replace(name, value string) {
	a.header = append(a.header.Without(func(n string) bool { return strings.EqualFold(n, name) }), fetch.Field{Name: name, Value: value})
}

// drain reads what is left of a page that nobody sees, so that its connection
// can be asked again.
func drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}
