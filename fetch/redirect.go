package fetch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/uri"
)

// follow sends a request and follows its redirects. It applies the Policy to
// each redirect.
func (c *Client) follow(ctx context.Context, cancel context.CancelFunc, req *Request) (*Response, error) {
	r, err := c.prepare(req)
	if err != nil {
		return nil, wrapError(req.operation(), req.URL.String(), err)
	}
	var seen []string
	var chain []uri.URI
	cookies := ""
	for {
		if r.leftOrigin {
			ctx = httpauth.Redirected(ctx) // for middlewares too
		}
		resp, err := checkResponse(c.driver.Do(ctx, r))
		if err != nil {
			return nil, wrapError(r.operation(), r.URL.String(), preferContextFault(ctx, err))
		}
		if resp.URL.IsZero() {
			resp.URL = r.URL
		}
		resp.Chain = chain
		if resp.Location.IsZero() || r.NoFollow {
			return c.finish(ctx, cancel, r, resp)
		}
		cookies += strings.Join(resp.Header.Values("Set-Cookie"), "\n")
		seen = append(seen, requestIdentity(r.URL)+cookies)
		chain = append(slices.Clip(chain), r.URL)
		next, err := c.redirectRequest(r, resp)
		discard(resp)
		switch {
		case err != nil:
		case len(chain) > c.policy.maxHops():
			err = Loop.Errorf("more than %d redirects", c.policy.maxHops())
		case requestIdentity(next.URL) != requestIdentity(r.URL) && slices.Contains(seen, requestIdentity(next.URL)+cookies):
			// A redirect from a URL to itself is not a loop, because the second
			// response may differ, for example after a cookie was set.
			err = Loop.Errorf("redirect loop at %s", next.URL)
		}
		if err != nil {
			return nil, wrapError("redirect", r.URL.String(), err)
		}
		r = next
	}
}

// requestIdentity returns a string that identifies a URL in a chain of
// redirects. It is used to detect redirect loops.
func requestIdentity(u uri.URI) string {
	return u.WithoutUserinfo().WithoutFragment().Unredacted() + "\n"
}

// prepare returns a copy of req in which the credential is restricted to one
// origin. If req has no credential, prepare uses the userinfo of the URL.
func (c *Client) prepare(req *Request) (*Request, error) {
	r := req.Clone()
	r.client = c
	if r.Range.First >= 0 && r.Range.End < 0 {
		return nil, Usage.Errorf("the range ends at the negative offset %d", r.Range.End)
	}
	r.URL = c.upgraded(r.URL)
	s, err := c.scheme(r.URL)
	if err != nil {
		return nil, err
	}
	if !r.Typed() {
		r.URL = dropUserinfo(r.URL, r.Trace)
	}
	if m := r.Outgoing; m != nil {
		if !s.Traits.Web {
			return nil, Unsupported.Errorf("scheme %s has no methods: only http and https requests have the method %s", s.Name, m.Method)
		}
		r.NoFollow, r.ErrorBody, r.Auth = true, true, nil
		return r, nil
	}
	if r.Auth == nil {
		if r.Auth, err = s.credential(r.URL); err != nil {
			return nil, err
		}
	}
	t, err := TargetOf(r.URL, s.Port)
	if err != nil {
		return nil, err
	}
	if r.Auth != nil {
		bound := *r.Auth
		if bound.Origin == (Origin{}) {
			bound.Origin = t.Origin()
		}
		r.Auth = &bound
		if bound.Origin != t.Origin() {
			r.Auth = nil
		}
	}
	return r, nil
}

// Credential returns the user name and the password in a URL. The scheme of the
// URL determines how they are parsed. Credential returns nil if the URL has no
// userinfo.
func (c *Client) Credential(u uri.URI) (*Credential, error) {
	s := c.Scheme(u.Scheme())
	return s.credential(u)
}

func (s *Scheme) credential(u uri.URI) (*Credential, error) {
	if s.User != nil {
		return s.User(u)
	}
	return CredentialOf(u)
}

// CredentialOf returns the percent-decoded user name and password in a URL. It
// returns nil if the URL has neither. The error has the Fault BadURL.
func CredentialOf(u uri.URI) (*Credential, error) {
	name, password, has := u.User()
	if name == "" && !has {
		return nil, nil
	}
	user, err := uri.Unescape(name)
	if err == nil {
		password, err = uri.Unescape(password)
	}
	if err != nil {
		return nil, BadURL.With(err)
	}
	return &Credential{User: user, Password: Secret(password), Incomplete: !has}, nil
}

func dropUserinfo(u uri.URI, t *trace.Trace) uri.URI {
	if _, ok := u.Userinfo(); !ok {
		return u
	}
	t.Notef("ignored the user information in a URL that a server supplied")
	return u.WithoutUserinfo()
}

// upgraded applies Options.Upgrade to a URL.
func (c *Client) upgraded(u uri.URI) uri.URI {
	if c.upgrade == nil {
		return u
	}
	return c.upgrade(u)
}

// Redirected returns the request for the target of the redirect resp, for a
// Middleware that follows redirects itself. It applies Options.Upgrade, and records
// whether the redirect leaves the origin of the URL that the user entered. The
// request has no credential. The Policy checks it when the Middleware passes it on.
func (r *Request) Redirected(resp *Response) (*Request, error) {
	if r.client == nil {
		next := r.Clone()
		next.From = &Source{URL: r.URL.WithoutUserinfo(), Peer: resp.Peer}
		next.URL, next.Auth = resp.Location.WithoutUserinfo(), nil
		return next, nil
	}
	next, err := r.client.redirectRequest(r, resp)
	if err != nil {
		return nil, err
	}
	next.Auth = nil
	return next, nil
}

// redirectRequest returns the request that follows the redirect resp. It copies
// the request r, so that credentials removed at an earlier redirect stay
// removed.
func (c *Client) redirectRequest(r *Request, resp *Response) (*Request, error) {
	next := r.Clone()
	next.sawTLS = r.sawTLS || resp.TLS != nil
	next.From = &Source{URL: r.URL.WithoutUserinfo(), Peer: resp.Peer}
	next.URL = c.upgraded(dropUserinfo(resp.Location, r.Trace))
	if _, ok := next.URL.Fragment(); !ok {
		if f, ok := r.URL.Fragment(); ok { // RFC 9110 10.2.2
			u, err := next.URL.WithFragment(f)
			if err != nil {
				return nil, err
			}
			next.URL = u
		}
	}
	here, err := c.scheme(r.URL)
	if err != nil {
		return nil, err
	}
	next.sawTLS = next.sawTLS || here.Secure
	if r.Typed() {
		next.typedOrigin = originOf(r.URL, here)
	}
	there, err := c.scheme(next.URL)
	if err != nil {
		return nil, err
	}
	same := originOf(r.URL, here) == originOf(next.URL, there)
	if !same {
		// The Host field that the caller set is valid only for the first
		// origin, where it also selects the cookies. Curl removes the Host
		// field after a redirect to another origin too, even with
		// --location-trusted.
		next.Header = r.Header.Without(func(name string) bool { return strings.EqualFold(name, "Host") })
	}
	if next.sawTLS && !there.Secure {
		next.Header = next.Header.Without(func(name string) bool { return strings.EqualFold(name, "Referer") })
	}
	if same || c.policy.LocationTrusted && sendsAlike(here, there) {
		if next.Auth != nil {
			bound := *next.Auth
			bound.Origin = originOf(next.URL, there)
			next.Auth = &bound
		}
		return next, nil
	}
	next.leftOrigin, next.Auth = true, c.redirectLogin(next, there)
	next.Header = next.Header.Without(http1.IsSecretField)
	return next, nil
}

// sendsAlike reports whether two schemes send a credential in the same form. The
// drivers of other schemes could send a secret in plaintext that the driver of the
// first one does not send at all, such as the key of a signature.
func sendsAlike(a, b *Scheme) bool { return a.Name == b.Name || a.Traits.Web && b.Traits.Web }

// redirectLogin calls Options.RedirectLogin for a redirect to another origin.
// The request next is the redirected request, and s is its scheme. The result
// is nil if no credential may be sent.
func (c *Client) redirectLogin(next *Request, s *Scheme) *Credential {
	o := originOf(next.URL, s)
	if c.login == nil || next.sawTLS && !s.Secure || !c.allowsRedirectLogin(next.typedOrigin, o) {
		return nil
	}
	found := c.login(o)
	if found == nil {
		return nil
	}
	if !s.Secure {
		next.Trace.Notef("login for %s is sent in plaintext, because a redirect led to this host", o.Host)
	}
	bound := *found
	bound.Origin = o
	return &bound
}

// allowsRedirectLogin reports whether Options.RedirectLogin may be called after
// a redirect to another origin. The origin from is the origin of the URL that
// the user entered. It is zero if a server supplied the URL.
//
// The protocol must not change, but http and https count as the same protocol.
// On the same host, the port must not change (CVE-2022-27774), except between
// the default ports of a protocol with and without TLS.
func (c *Client) allowsRedirectLogin(from, to Origin) bool {
	if from.Host == "" || to.Host == "" || strings.TrimSuffix(from.Scheme, "s") != strings.TrimSuffix(to.Scheme, "s") {
		return false
	}
	usual := func(o Origin) bool { s := c.Scheme(o.Scheme); return o.Port == s.Port }
	return from.Host != to.Host || from.Port == to.Port || usual(from) && usual(to)
}

// originOf returns the origin of a URL with the scheme s. It returns the zero
// Origin if the URL has an invalid host or port.
func originOf(u uri.URI, s *Scheme) Origin {
	t, _ := TargetOf(u, s.Port)
	return t.Origin()
}

// finish checks the final response and prepares it for the caller.
func (c *Client) finish(ctx context.Context, cancel context.CancelFunc, r *Request, resp *Response) (*Response, error) {
	resp.Time = checkYear(resp.Time)
	if resp.Fault != nil {
		err := wrapError(r.operation(), resp.URL.String(), resp.Fault).(*Error)
		err.Code = cmp.Or(err.Code, resp.Code)
		if !r.ErrorBody {
			discard(resp)
			return nil, err
		}
		resp.Fault = err
	}
	if n, limit := expectedLength(r, resp), c.policy.MaxBody; limit > 0 && n > limit {
		discard(resp)
		return nil, wrapError(r.operation(), resp.URL.String(), TooLarge.Errorf("body of %d bytes, larger than the limit of %d", n, limit))
	}
	resp.Body = newBody(ctx, cancel, &c.policy, r, resp)
	resp.source = &referrer{c, r, resp.Peer}
	return resp, nil
}

// discard closes the body of a response that is not needed. It reads a small
// body to the end first, so that the connection can be reused.
func discard(resp *Response) {
	if resp.Size >= 0 && resp.Size <= 4<<10 {
		io.CopyN(io.Discard, resp.Body, resp.Size+1)
	}
	resp.Body.Close()
}

// contextFault returns the cause of the end of ctx as an error with a Fault, or
// nil if ctx has not ended. If the cause has no Fault, contextFault adds the
// Fault Canceled or Timeout.
func contextFault(ctx context.Context) error {
	cause := context.Cause(ctx)
	if f := FaultOf(cause); f != Internal {
		return f.With(cause)
	}
	return FaultOf(ctx.Err()).With(cause)
}

// preferContextFault returns the cause of the end of ctx if err is a
// consequence of this end. Otherwise it returns err.
func preferContextFault(ctx context.Context, err error) error {
	if why := contextFault(ctx); why != nil && (FaultOf(err) != FaultOf(why) || errors.Is(err, ctx.Err())) {
		return why
	}
	return err
}

// allowsLogin reports whether a LoginFunc may be called for the origin o. The
// origin must be the first origin of the request. If the user entered the URL,
// it may also be a configured server.
func (g *grant) allowsLogin(o Origin) bool {
	if g.firstParty && o == g.target.Origin() {
		return true
	}
	return g.typed && slices.Contains(g.scheme.Trust, Target{Host: o.Host, Port: o.Port}.Address())
}

// guardLogin wraps a LoginFunc. The wrapper returns nil if the server that
// requires a credential is not the server of the original request.
func guardLogin(login LoginFunc) LoginFunc {
	return func(ctx context.Context, ch Challenge) (*Credential, error) {
		g := grantOf(ctx)
		if g == nil || !ch.Proxy && !g.allowsLogin(ch.Origin) {
			return nil, nil
		}
		ch.Typed = g.typed
		return login(ctx, ch)
	}
}
