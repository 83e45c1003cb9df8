package fetch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Client dereferences URLs of the schemes it was made with. It is safe for
// concurrent use; it pools connections, so it is made once, by [New], and closed
// at the end.
type Client struct {
	policy  Policy
	login   func(Origin) *Credential // at redirects; nil: none
	schemes map[string]*Scheme
	wrap    []Middleware
	driver  Driver // the middlewares around dispatch
	open    map[string]func() Driver
	done    chan struct{}
	close   func() // closes done once
}

// New makes a Client. Of two schemes with one name the later counts.
func New(opts Options, schemes ...Scheme) *Client {
	c := &Client{
		policy:  opts.Policy,
		login:   opts.RedirectLogin,
		schemes: make(map[string]*Scheme, len(schemes)),
		wrap:    opts.Wrap,
		open:    make(map[string]func() Driver, len(schemes)),
		done:    make(chan struct{}),
	}
	c.close = sync.OnceFunc(func() { close(c.done) })
	env := c.env(opts)
	for _, s := range schemes {
		c.schemes[s.Name] = &s
		c.open[s.Name] = sync.OnceValue(func() Driver { return s.Open(env) })
	}
	c.chain()
	return c
}

// With returns a Client that has the schemes, the Policy and the connections of
// c. Its requests pass the middlewares of c first and those of inner after
// them. Closing either Client closes both. Each middleware of c is called once
// more, with another Driver.
func (c *Client) With(inner ...Middleware) *Client {
	derived := *c
	derived.wrap = slices.Concat(c.wrap, inner)
	derived.chain()
	return &derived
}

// chain puts the middlewares of c around dispatch.
func (c *Client) chain() {
	c.driver = DriverFunc(c.dispatch)
	for _, wrap := range slices.Backward(c.wrap) {
		c.driver = wrap(c.driver)
	}
}

func (c *Client) env(opts Options) Env {
	env := Env{Net: newDialer(&c.policy, opts), TLS: opts.TLS, Now: opts.Now, MaxBody: c.policy.MaxBody, Done: c.done}
	if env.Now == nil {
		env.Now = time.Now
	}
	if opts.Login != nil {
		env.Login = guardLogin(opts.Login)
	}
	return env
}

// Close ends idle sessions. Requests under way go on; new ones fail.
func (c *Client) Close() error {
	c.close()
	return nil
}

// Get dereferences a URL that a person wrote: text must be a URI with a
// scheme (RFC 3986 3), or one with a zone identifier (RFC 6874).
func (c *Client) Get(ctx context.Context, text string) (*Response, error) {
	u, err := ParseURL(text)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, &Request{URL: u})
}

// ParseURL reads a URL that a person wrote, for Request.URL.
func ParseURL(text string) (uri.URI, error) {
	u, err := uri.ParseZone(text)
	if err == nil && u.Scheme() == "" {
		err = BadURL.Errorf("no scheme: not a URL but a reference")
	}
	if err != nil {
		return uri.URI{}, &Error{Op: "parse", Err: BadURL.With(err)}
	}
	return u, nil
}

// Do carries out req and follows its redirects. The caller closes Body, and
// ctx governs it. Where the server said no, the answer is an error unless
// req.ErrorBody asks for the page.
func (c *Client) Do(ctx context.Context, req *Request) (*Response, error) {
	select {
	case <-c.done:
		return nil, &Error{Op: req.Op.String(), URL: uri.Redact(req.URL.String()), Err: Usage.Errorf("client is closed")}
	default:
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
		return context.WithTimeoutCause(ctx, limit, Timeout.Errorf("not done within %v", limit))
	}
	return context.WithCancel(ctx)
}

// dispatch is the innermost Driver: what no middleware can get round. The
// Policy judges, and its grant opens the door.
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
	if rate := c.policy.minRate(); rate > 0 && resp.Input == nil {
		resp.Body = &rateBody{ReadCloser: resp.Body, rate: rate}
	}
	return resp, nil
}

// source returns the scheme and the origin of the page that led to req. They
// are zero for a typed URL. A page of a scheme that c does not have leads
// nowhere.
func (c *Client) sourceOf(req *Request) (*Scheme, Origin) {
	if req.Typed() {
		return &Scheme{}, Origin{}
	}
	s, err := c.scheme(req.From.URL)
	if err != nil {
		return &Scheme{Name: req.From.URL.Scheme()}, Origin{}
	}
	return s, originOf(req.From.URL, s)
}

// kept holds a Driver, which may be anybody's, to its contract.
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

// Scheme returns the scheme of that name that c was made with, or the zero
// Scheme.
func (c *Client) Scheme(name string) Scheme {
	if s, ok := c.schemes[name]; ok {
		return *s
	}
	return Scheme{}
}

func (c *Client) scheme(u uri.URI) (*Scheme, error) {
	if len(u.Unredacted()) > maxURL {
		return nil, BadURL.Errorf("longer than %d bytes", maxURL)
	}
	name := u.Scheme()
	if s, ok := c.schemes[name]; ok {
		return s, nil
	}
	if what, ok := reservedSchemes[name]; ok {
		err := Unsupported.Errorf("scheme %s (%s) is supported only through a gateway", name, what)
		return nil, &Remedy{err, Override{OverrideGateway, name}}
	}
	if name == "" {
		return nil, BadURL.Errorf("no scheme: not a URL but a reference")
	}
	return nil, Unsupported.Errorf("unknown scheme %s", name)
}

// maxURL bounds a URL, in bytes, of a person as of a server: no server takes
// longer ones, and a driver may copy it several times.
const maxURL = 64 << 10

// Plan returns the protocol actions that Do would take for req, without a
// network and without asking the Policy.
func (c *Client) Plan(req *Request) ([]Step, error) {
	s, err := c.scheme(req.URL)
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	if s.Plan == nil {
		return nil, wrapError("plan", req.URL.String(), Unsupported.Errorf("scheme %s has no plan", s.Name))
	}
	r, err := c.prepare(req)
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	steps, err := s.Plan(r)
	if err != nil {
		return nil, wrapError("plan", req.URL.String(), err)
	}
	return steps, nil
}

// Search asks the index at u, a URL that a person wrote, for q.
func (c *Client) Search(ctx context.Context, u uri.URI, q Search) (*Response, error) {
	found, err := c.Query(u, q)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, &Request{URL: found})
}

// Query writes the URL that asks the index u for q.
func (c *Client) Query(u uri.URI, q Search) (uri.URI, error) {
	s, err := c.scheme(u)
	if err == nil && s.Query == nil {
		err = Unsupported.Errorf("scheme %s cannot be searched", s.Name)
	}
	var found uri.URI
	if err == nil {
		found, err = s.Query(u, q)
	}
	if err != nil {
		return uri.URI{}, wrapError("search", u.String(), err)
	}
	return found, nil
}

// ReservedScheme tells what the URLs of a scheme name that the standards know, and
// that wants a gateway where no driver speaks it.
func ReservedScheme(scheme string) (what string, ok bool) {
	what, ok = reservedSchemes[scheme]
	return what, ok
}

// reservedSchemes are those that RFC 1630, RFC 1738 and their drafts name and
// that have no driver: what they are, for the error.
var reservedSchemes = map[string]string{
	"afs":        "files of the Andrew File System",
	"nfs":        "files of the Network File System, RFC 2224",
	"urn":        "names without a place, RFC 8141",
	"x500":       "entries of an X.500 directory",
	"whois++":    "records of a Whois++ server, RFC 1835",
	"z39.50r":    "records of a Z39.50 database, RFC 2056",
	"z39.50s":    "sessions with a Z39.50 database, RFC 2056",
	"mailserver": "documents that a mail server sends on request",
	"cso":        "entries of a CSO name server",
}
