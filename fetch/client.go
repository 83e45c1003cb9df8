package fetch

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/localaddr"
	"github.com/anyurl/fetch/internal/base/reservedscheme"
	"github.com/anyurl/fetch/uri"
)

// A Client retrieves the objects that URLs name. It supports the schemes passed
// to [New]. A Client pools connections, so programs should reuse one Client and
// close it at the end. It is safe for concurrent use.
type Client struct {
	policy  Policy
	login   func(Origin) *Credential // Options.RedirectLogin; may be nil
	upgrade func(uri.URI) uri.URI    // Options.Upgrade; may be nil
	certs   *identity                // selects the servers that receive the client certificates of Options.TLS
	sockets *socketOrigins           // selects the requests that use Options.Socket
	schemes map[string]*Scheme
	wrap    []Middleware
	driver  Driver // the method dispatch inside the middlewares
	open    map[string]func() Driver
	done    chan struct{}
	close   func() // closes the channel done, only once
}

// New returns a Client that supports the given schemes. If two schemes have the
// same name, New uses the later one.
func New(opts Options, schemes ...Scheme) *Client {
	c := &Client{
		policy:  opts.Policy,
		login:   opts.RedirectLogin,
		upgrade: opts.Upgrade,
		certs:   newIdentity(opts),
		sockets: newSocketOrigins(opts),
		schemes: make(map[string]*Scheme, len(schemes)),
		wrap:    opts.Wrap,
		open:    make(map[string]func() Driver, len(schemes)),
		done:    make(chan struct{}),
	}
	c.policy.interfaces = new(localaddr.Set)
	c.close = sync.OnceFunc(func() { close(c.done) })
	env := c.env(opts)
	for _, s := range schemes {
		c.schemes[s.Name] = &s
		c.open[s.Name] = sync.OnceValue(func() Driver { return s.Open(env) })
	}
	c.chain()
	return c
}

// With returns a Client with additional middlewares. The two Clients share
// their schemes, their Policy and their connections. A request passes first
// through the middlewares of c and then through the inner middlewares. Closing
// one Client closes both. With calls each middleware of c again, because the
// middlewares of the new Client wrap another Driver.
func (c *Client) With(inner ...Middleware) *Client {
	derived := *c
	derived.wrap = slices.Concat(c.wrap, inner)
	derived.chain()
	return &derived
}

// chain wraps the method dispatch in the middlewares of c and stores the result
// in c.driver. The first middleware is the outermost.
func (c *Client) chain() {
	c.driver = DriverFunc(c.dispatch)
	for _, wrap := range slices.Backward(c.wrap) {
		c.driver = wrap(c.driver)
	}
}

func (c *Client) env(opts Options) Env {
	env := Env{Net: newDialer(&c.policy, opts), TLS: markSessions(opts.TLS), Now: opts.Now, MaxBody: c.policy.MaxBody, Idle: c.policy.idleTime(), Done: c.done}
	env.Limit = func(body io.ReadCloser) io.ReadCloser { return newRateBody(body, &c.policy) }
	if env.Now == nil {
		env.Now = time.Now
	}
	if opts.Login != nil {
		env.Login = guardLogin(opts.Login)
	}
	return env
}

// Close closes idle connections and makes new requests fail. Requests in
// progress continue. Close can be called more than once and always returns nil. A
// program that exits need not call Close.
func (c *Client) Close() error {
	c.close()
	return nil
}

// Get retrieves the object at a URL that the user entered. It parses text with
// [ParseURL]. The caller must close the body of the response. The error is an
// [*Error], and the Response is then nil. An object that does not exist is an error
// with the Fault [NotFound].
func (c *Client) Get(ctx context.Context, text string) (*Response, error) {
	u, err := ParseURL(text)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, &Request{URL: u})
}

// ParseURL parses a URL that the user entered. The URL must have a scheme (RFC
// 3986 section 3), and may have a zone identifier (RFC 6874). ParseURL repairs
// invalid text with [uri.Unwrap] and [uri.Repair], so the result may differ
// from text. The result is intended for Request.URL. The error is an [*Error]
// with the Fault BadURL.
func ParseURL(text string) (uri.URI, error) {
	u, err := uri.ParseZone(text)
	if err != nil {
		if repaired, failed := uri.ParseZone(uri.Repair(uri.Unwrap(text))); failed == nil {
			u, err = repaired, nil
		}
	}
	if err == nil && u.Scheme() == "" {
		err = BadURL.Errorf("URL has no scheme")
	}
	if err != nil {
		return uri.URI{}, &Error{Op: "parse", Err: BadURL.With(err)}
	}
	return u, nil
}

// Do sends a request, follows redirects and returns the final response. The
// caller must close the response body. If ctx ends, reading from the body also
// fails. The error is an [*Error], and the Response is then nil. If the server
// rejects the request, Do returns an error, or the error page if req.ErrorBody is
// set.
func (c *Client) Do(ctx context.Context, req *Request) (*Response, error) {
	select {
	case <-c.done:
		return nil, &Error{Op: req.operation(), URL: uri.Redact(req.URL.String()), Err: Usage.Errorf("client is closed")}
	default:
	}
	if err := contextFault(ctx); err != nil {
		return nil, wrapError(req.operation(), req.URL.String(), err)
	}
	ctx, cancel := c.withTimeLimit(ctx)
	resp, err := c.follow(ctx, cancel, req)
	if err != nil {
		cancel()
		return nil, err
	}
	return resp, nil
}

func (c *Client) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if limit := c.policy.maxTime(); limit > 0 {
		return context.WithTimeoutCause(ctx, limit, Timeout.Errorf("request did not complete within %v", limit))
	}
	return context.WithCancel(ctx)
}

// dispatch checks a request against the Policy and calls the driver of its
// scheme, with a grant in ctx. It runs inside all middlewares, so that no
// middleware can bypass the Policy.
func (c *Client) dispatch(ctx context.Context, req *Request) (*Response, error) {
	s, err := c.scheme(req.URL)
	if err != nil {
		return nil, err
	}
	from, page := c.sourceOf(req)
	g, err := c.policy.authorize(req, s, from, page)
	if err != nil {
		return nil, err
	}
	g.firstParty = !req.leftOrigin && (req.Typed() || page == g.target.Origin())
	g.anonymous = !c.certs.permits(g, from)
	g.socket = c.sockets.permits(g)
	if s.Open == nil {
		return nil, Unsupported.Errorf("scheme %s has no driver", s.Name)
	}
	resp, err := checkResponse(c.open[s.Name]().Do(context.WithValue(ctx, grantKey{}, g), req))
	if err != nil {
		return nil, err
	}
	if resp.Size == 0 && !s.Traits.ReportsSize {
		resp.Size = -1
	}
	resp.menu = s.Menu
	if resp.Input == nil {
		resp.Body = newRateBody(resp.Body, c.ratePolicy(req))
	}
	return resp, nil
}

// ratePolicy returns the Policy whose rate limits apply to the body of a
// response. A browser keeps streams of events open that have few bytes, so that
// its requests have no minimum rate.
func (c *Client) ratePolicy(req *Request) *Policy {
	if req.Outgoing == nil {
		return &c.policy
	}
	p := c.policy
	p.MinRate = -1
	return &p
}

// sourceOf returns the scheme and the origin of the document that supplied the
// URL of req. The Scheme is nil for a URL that the user entered. If c does not
// support the scheme, the returned Scheme has only a name, so that the Policy
// denies all links from the document.
func (c *Client) sourceOf(req *Request) (*Scheme, Origin) {
	if req.Typed() {
		return nil, Origin{}
	}
	s, err := c.scheme(req.From.URL)
	if err != nil {
		return &Scheme{Name: req.From.URL.Scheme()}, Origin{}
	}
	return s, originOf(req.From.URL, s)
}

// checkResponse returns an error if the result of a driver violates the
// contract of [Driver].
func checkResponse(resp *Response, err error) (*Response, error) {
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, Internal.Errorf("a driver returned neither a response nor an error")
	case resp.Body == nil:
		return nil, Internal.Errorf("a driver returned a response without a body")
	}
	return resp, nil
}

// Scheme returns the scheme with the given name, or the zero Scheme if the
// Client does not support it.
func (c *Client) Scheme(name string) Scheme {
	if s, ok := c.schemes[name]; ok {
		return *s
	}
	return Scheme{}
}

func (c *Client) scheme(u uri.URI) (*Scheme, error) {
	if len(u.Unredacted()) > maxURL {
		return nil, BadURL.Errorf("URL is longer than %d bytes", maxURL)
	}
	name := u.Scheme()
	if s, ok := c.schemes[name]; ok {
		return s, nil
	}
	if what, ok := reservedscheme.Describe(name); ok {
		err := Unsupported.Errorf("scheme %s (%s) is supported only through a gateway", name, what)
		return nil, override.With(err, override.Setting{Kind: override.Gateway, Value: name})
	}
	if name == "" {
		return nil, BadURL.Errorf("URL has no scheme")
	}
	return nil, Unsupported.Errorf("unknown scheme %s", name)
}

// maxURL is the maximum length of a URL in bytes. Longer URLs are rejected,
// because servers do not accept them, and a driver may copy a URL several
// times.
const maxURL = 64 << 10

// Plan returns the protocol actions that [Client.Do] would carry out for a
// request. It does not use the network and does not apply the Policy.
func (c *Client) Plan(req *Request) ([]scheme.Step, error) {
	r, err := c.prepare(req)
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	s, err := c.scheme(r.URL) // Options.Upgrade may have changed it
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	if s.Plan == nil {
		return nil, wrapError("plan", req.URL.String(), Unsupported.Errorf("scheme %s has no plan", s.Name))
	}
	steps, err := s.Plan(r)
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	return steps, nil
}

// Query returns the URL of a search for q in the searchable index at u. To run
// the search, pass the URL to [Client.Do].
func (c *Client) Query(u uri.URI, q Search) (uri.URI, error) {
	s, err := c.scheme(u)
	var found uri.URI
	if err == nil {
		found, err = s.Search(u, q)
	}
	if err != nil {
		return uri.URI{}, wrapError("search", u.String(), err)
	}
	return found, nil
}
