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

// OverrideAuth is the kind of [fetch.Override] for a server that offers only
// Digest, which Options.Auth must allow. A login is needed too.
const OverrideAuth fetch.OverrideKind = "http.Options.Auth"

// maxLogins limits the calls of Env.Login for one object.
const maxLogins = 3

// An answer is the state of authentication of an ask.
type authState struct {
	credential    *fetch.Credential  // the last one that was tried
	challenge     httpauth.Challenge // the last one that was answered
	logins        int                // calls of Env.Login
	staleNonce    bool               // a nonce has expired once
	proxyAnswered bool               // the proxy's challenge was answered
}

// login returns a with the answer to the challenge of x, or nil if there is
// none.
func (d *driver) authenticate(ctx context.Context, req *fetch.Request, wr *wireRequest, x *exchange) (*wireRequest, error) {
	switch x.code {
	case http.StatusUnauthorized:
		if hasField(req.Header, "Authorization") {
			return nil, nil
		}
		return d.authenticateOrigin(ctx, req, wr, httpauth.Parse(x.header.Values("WWW-Authenticate")))
	case http.StatusProxyAuthRequired:
		if x.via == nil {
			return nil, nil
		}
		return x.via.authenticate(wr, httpauth.Parse(x.header.Values("Proxy-Authenticate"))), nil
	}
	return nil, nil
}

func (d *driver) authenticateOrigin(ctx context.Context, req *fetch.Request, wr *wireRequest, list []httpauth.Challenge) (*wireRequest, error) {
	next := *wr
	mode := d.opts.Auth
	switch {
	case next.credential != nil && !next.staleNonce && isStale(list):
		next.staleNonce = true
		mode = Digest
	case req.Auth != nil:
		if next.credential != nil || mode == Basic || req.Auth.Token != "" {
			return nil, nil
		}
		next.credential = req.Auth
	case d.env.Login == nil || next.logins == maxLogins || len(list) == 0:
		return nil, nil
	default:
		if mode == Basic {
			mode = AnyAuth
		}
		c, err := d.env.Login(ctx, fetch.Challenge{
			Origin: wr.target.Origin(),
			User:   userOf(req),
			Realm:  list[0].Params["realm"],
			Again:  next.logins > 0,
		})
		if c == nil || err != nil {
			return nil, err
		}
		next.credential = c
		next.logins++
	}
	field, to := next.authorize(mode, list)
	if field == "" {
		return nil, nil
	}
	next.challenge = to
	next.setField("Authorization", field)
	return &next, nil
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
func (wr *wireRequest) authorize(mode Auth, list []httpauth.Challenge) (field string, to httpauth.Challenge) {
	if c := wr.credential; c.Token != "" {
		return "Bearer " + c.Token.Reveal(), to
	}
	to = httpauth.Method(mode).Choose(list)
	field, err := to.Answer(loginOf(wr.credential), wr.method, wr.path+wr.query, 1)
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
func (p *proxyRoute) authenticate(wr *wireRequest, list []httpauth.Challenge) *wireRequest {
	if wr.proxyAnswered || p.login == nil || p.auth == fetch.ProxyBasic {
		return nil
	}
	to := httpauth.Method(p.auth).Choose(list)
	field, err := to.Answer(loginOf(p.login), wr.method, p.requestTarget(wr), 1)
	if err != nil {
		return nil
	}
	next := *wr
	next.proxyAnswered, next.proxyAuth = true, field
	return &next
}

// replace sets one field. The header of other asks does not change.
func (wr *wireRequest) setField(name, value string) {
	wr.header = append(wr.header.Without(func(n string) bool { return strings.EqualFold(n, name) }), fetch.Field{Name: name, Value: value})
}

// drain reads the rest of a page that is not used, so that its connection can
// be reused.
func drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}
