package http

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/httpauth"
)

// Auth is an authentication method (RFC 9110 11).
type Auth uint8

const (
	Basic   Auth = iota // sent with the first request; a login of Env.Login is used as with AnyAuth
	Digest              // RFC 7616, when the server requires it
	AnyAuth             // when the server requires it, Digest before Basic
)

// maxLogins limits the calls of Env.Login for one object.
const maxLogins = 3

// An answer is the state of authentication of an ask.
type answer struct {
	credential *fetch.Credential  // the last one that was tried
	to         httpauth.Challenge // the last one that was answered
	logins     int                // calls of Env.Login
	stale      bool               // a nonce has expired once
	proxied    bool               // the proxy's challenge was answered
}

// login returns a with the answer to the challenge of x, or nil if there is
// none.
func (d *driver) login(ctx context.Context, req *fetch.Request, a *ask, x *exchange) (*ask, error) {
	switch x.code {
	case http.StatusUnauthorized:
		if has(req.Header, "Authorization") {
			return nil, nil
		}
		return d.loginOrigin(ctx, req, a, httpauth.Parse(x.header.Values("WWW-Authenticate")))
	case http.StatusProxyAuthRequired:
		if x.via == nil {
			return nil, nil
		}
		return x.via.answer(a, httpauth.Parse(x.header.Values("Proxy-Authenticate"))), nil
	}
	return nil, nil
}

func (d *driver) loginOrigin(ctx context.Context, req *fetch.Request, a *ask, list []httpauth.Challenge) (*ask, error) {
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
	field, to := b.authorize(mode, list)
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

func isStale(list []httpauth.Challenge) bool {
	return len(list) > 0 && list[0].Scheme == "digest" && list[0].Stale()
}

// authorize answers the best of the challenges that mode allows. The field is
// empty if there is none.
func (a *ask) authorize(mode Auth, list []httpauth.Challenge) (field string, to httpauth.Challenge) {
	if c := a.credential; c.Token != "" {
		return "Bearer " + c.Token.Reveal(), to
	}
	to = httpauth.Method(mode).Choose(list)
	field, err := to.Answer(loginOf(a.credential), a.method, a.path+a.query, 1)
	if err != nil {
		return "", httpauth.Challenge{}
	}
	return field, to
}

// loginOf returns the login of a credential.
func loginOf(c *fetch.Credential) httpauth.Login {
	return httpauth.Login{User: c.User, Password: c.Password.Reveal()}
}

// answer answers a proxy's challenge to the absolute form, once.
func (p *proxyTo) answer(a *ask, list []httpauth.Challenge) *ask {
	if a.proxied || p.login == nil || p.auth == fetch.ProxyBasic {
		return nil
	}
	to := httpauth.Method(p.auth).Choose(list)
	field, err := to.Answer(loginOf(p.login), a.method, p.absolute(a), 1)
	if err != nil {
		return nil
	}
	b := *a
	b.proxied, b.proxyField = true, field
	return &b
}

// replace sets one field. The header of other asks does not change.
func (a *ask) replace(name, value string) {
	a.header = append(a.header.Without(func(n string) bool { return strings.EqualFold(n, name) }), fetch.Field{Name: name, Value: value})
}

// drain reads the rest of a page that is not used, so that its connection can
// be reused.
func drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}
