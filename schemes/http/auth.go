package http

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Auth selects the HTTP authentication method (RFC 9110 11).
type Auth uint8

const (
	// Basic uses Basic authentication (RFC 7617). The credentials in
	// Request.Auth are sent with the first request, before the server requires
	// them. Credentials from Env.Login are sent as with AnyAuth.
	Basic Auth = iota
	// Digest uses Digest authentication (RFC 7616) if the server requires it.
	Digest
	// AnyAuth uses Digest if the server offers it. Otherwise it uses Basic.
	AnyAuth
	// Negotiate uses Options.Negotiator (RFC 4559) if the server requires it and
	// if the request has a credential, which may be empty.
	Negotiate
)

// OverrideAuth is the [override.Kind] for a server that offers only Digest
// authentication. To authenticate, set Options.Auth to Digest or AnyAuth and
// add credentials to the request.
const OverrideAuth override.Kind = "http.Options.Auth"

// maxLogins is the maximum number of times that the driver calls Env.Login for
// one request.
const maxLogins = 3

// An authState holds the credentials and challenges that a request has already
// used.
type authState struct {
	credential    *fetch.Credential  // last credentials that were tried
	challenge     httpauth.Challenge // last challenge for which credentials were sent
	logins        int                // number of calls of Env.Login
	staleNonce    bool               // the server has rejected one nonce because it had expired
	proxyAnswered bool               // credentials were sent to the proxy
	negotiated    bool               // a token of Options.Negotiator was sent
}

// authenticate returns the request to send after a response with status 401 or
// 407. It is a copy of wr with an Authorization or Proxy-Authorization field.
// authenticate returns nil for other responses, and if the response has no
// challenge or no credentials are available.
func (d *driver) authenticate(
	ctx context.Context, req *fetch.Request, wr *wireRequest, x *exchange,
) (*wireRequest, error) {
	switch x.code {
	case http.StatusUnauthorized:
		if wr.outgoing != nil || hasField(req.Header, "Authorization") || d.gateway != nil && !gatewayLogsIn(req.URL) {
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

// authenticateOrigin returns a copy of the request with an Authorization field
// for one of the challenges in list. It uses the credentials of the request or
// of Env.Login. It returns nil if there are no credentials or the server has
// rejected them.
func (d *driver) authenticateOrigin(
	ctx context.Context, req *fetch.Request, wr *wireRequest, list []httpauth.Challenge,
) (*wireRequest, error) {
	next := *wr
	mode := d.opts.Auth
	if mode == Negotiate {
		return d.negotiate(ctx, req, wr, list)
	}
	switch {
	case next.credential != nil && !next.staleNonce && isStale(list):
		next.staleNonce = true
		mode = Digest
	case req.Auth != nil && !sessions.LacksPassword(req.Auth):
		if next.credential != nil || mode == Basic || req.Auth.Token != "" {
			return nil, nil
		}
		next.credential = req.Auth
	case next.logins == maxLogins || len(list) == 0:
		return nil, nil
	case d.env.Login == nil:
		return nil, missingPassword(req)
	default:
		if mode == Basic {
			mode = AnyAuth
		}
		c, err := d.env.Login(ctx, fetch.Challenge{
			Origin:   wr.origin,
			User:     userOf(req.Auth),
			Realm:    list[0].Params["realm"],
			Rejected: next.logins > 0,
		})
		switch {
		case err != nil:
			return nil, err
		case c == nil && next.logins == 0:
			return nil, missingPassword(req)
		case c == nil:
			return nil, nil
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

// negotiate returns a copy of the request with a token of Options.Negotiator. It
// returns nil if the server does not offer this method, or has rejected a token.
// After a redirect to another origin, the credential can be one of
// fetch.Options.RedirectLogin, for which no token is sent.
func (d *driver) negotiate(
	ctx context.Context, req *fetch.Request, wr *wireRequest, list []httpauth.Challenge,
) (*wireRequest, error) {
	offered := slices.ContainsFunc(list, func(c httpauth.Challenge) bool { return c.Scheme == "negotiate" })
	if !offered || wr.negotiated || req.Auth == nil || d.opts.Negotiator == nil || httpauth.IsRedirected(ctx) {
		return nil, nil
	}
	token, err := d.opts.Negotiator.Token(ctx, d.dialKDC, wr.target.Host, req.Auth)
	if err != nil {
		return nil, err
	}
	next := *wr
	next.negotiated = true
	next.setField("Authorization", "Negotiate "+token)
	return &next, nil
}

// connUser returns the part of the key of a connection that names its user, or "".
// Some servers authenticate the connection with a token, and not only the request
// (RFC 4559 section 6). Requests of other users, and those without a token, must
// not use this connection.
func (wr *wireRequest) connUser(auth *fetch.Credential) string {
	field := wr.header.Get("Authorization")
	method, _, _ := strings.Cut(field, " ")
	switch {
	case wr.negotiated:
		return " as " + strconv.Quote(auth.User) + " " + strconv.Quote(auth.Password.Reveal())
	case strings.EqualFold(method, "Negotiate"), strings.EqualFold(method, "NTLM"): // set by the caller
		return " with " + strconv.Quote(field)
	}
	return ""
}

// dialKDC connects to a server of Options.Negotiator.
func (d *driver) dialKDC(ctx context.Context, addr string) (net.Conn, error) {
	return d.env.Net.DialContext(proxy.Direct(ctx), "tcp", addr)
}

// userOf returns the user name of a credential without a password, or "".
func userOf(auth *fetch.Credential) string {
	if auth == nil {
		return ""
	}
	return auth.User
}

// missingPassword returns the error for a URL whose user name is of no use,
// because there is no password. It returns nil for a URL without a user name,
// and for a URL that the user did not enter, such as the one of robots.txt.
func missingPassword(req *fetch.Request) error {
	if req.Auth == nil || !req.Typed() {
		return nil
	}
	return sessions.NoPassword(req.Auth.User)
}

func isStale(list []httpauth.Challenge) bool {
	return len(list) > 0 && list[0].Scheme == "digest" && list[0].Stale()
}

// authorize selects a challenge from list and computes the Authorization field
// for it. It returns the field value and the selected challenge. The value is
// empty if mode allows no challenge in list.
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

// loginOf returns the user name and the password in c.
func loginOf(c *fetch.Credential) httpauth.Login {
	return httpauth.Login{User: c.User, Password: c.Password.Reveal()}
}

// authenticate returns a copy of the request with a Proxy-Authorization field
// for a challenge in list. It returns nil if there are no credentials or the
// proxy has already rejected them.
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

// setField sets a header field of the request. It first copies the header,
// because copies of a wireRequest share the header.
func (wr *wireRequest) setField(name, value string) {
	wr.header = wr.header.Without(func(n string) bool { return strings.EqualFold(n, name) })
	wr.addField(name, value)
}

// drain reads and discards up to 64 KiB of a response body and closes it. If
// this reaches the end of the body, the connection can be reused.
func drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}
