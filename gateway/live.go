package gateway

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/gateway/internal/logins"
	"github.com/anyurl/fetch/internal/base/lazy"
	"github.com/anyurl/fetch/internal/base/localaddr"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// Live configures the live pages of a Handler. The field Client is required.
type Live struct {
	// Client returns a new Client with the policy p for the schemes of the
	// Handler. If personal is true, requests of the Client may use the files,
	// mailboxes, logins, cookies and client certificates of the user. Otherwise
	// they must not. For schemes without such data,
	// fetch.New(fetch.Options{Policy: p}, schemes...) is sufficient. The Client
	// should decode content codings. The Handler closes the Client.
	Client func(p fetch.Policy, personal bool) (*fetch.Client, error)

	// Schemes lists the schemes of live pages; nil allows all schemes of the
	// Handler. A public Handler needs a list, without schemes such as file or
	// imap that show data of the user.
	Schemes []string

	// AllowHosts lists private hosts, addresses and prefixes that live pages may
	// show without a confirmation. fetch.Allowlist describes the format.
	AllowHosts []string
}

// A gate retrieves the URLs of live pages. It contains the signing key, the
// Clients and the logins of sessions.
type gate struct {
	key     *guard.Key
	schemes map[string]bool // schemes of live pages, or nil for all
	clients map[clientKey]*fetch.Client
	logins  logins.Store // entered in forms
	public  bool         // the Handler is public
}

// A clientKey identifies a Client of a gate.
type clientKey struct {
	reach    reach
	personal bool
}

// reach is the set of server addresses that a Client permits for URLs which the
// user entered.
type reach uint8

const (
	reachPublic reach = iota // public addresses
	reachAll                 // all addresses except metadata services
	reachListed              // the hosts of Live.AllowHosts, for entered URLs and for links
	reachLinked              // like reachAll, but links may lead from any scheme to any scheme that is not confined
)

// newGate returns the gate of a Handler with the given options. A public Handler
// reaches only public addresses, and no data of the user.
func newGate(all *Options) (*gate, error) {
	opts := all.Live
	g := &gate{key: guard.NewKey(), clients: map[clientKey]*fetch.Client{}, public: all.Public}
	policies := map[reach]fetch.Policy{reachPublic: fetch.Public(), reachAll: fetch.Typed()}
	switch {
	case opts.Client == nil:
		return nil, fetch.Usage.Errorf("the function that creates a Client is missing")
	case all.Public && (opts.Schemes == nil || len(opts.AllowHosts) > 0):
		return nil, fetch.Usage.Errorf("a public server needs a list of schemes, and must not permit private hosts")
	case all.Public:
		policies[reachAll] = fetch.Public()
	case len(opts.AllowHosts) > 0:
		listed := fetch.Allowlist(opts.AllowHosts...)
		listed.Redirects = []string{"*"} // a Client of another reach has already checked the schemes
		policies[reachListed] = listed
	}
	if opts.Schemes != nil {
		g.schemes = map[string]bool{}
	}
	for _, name := range opts.Schemes {
		g.schemes[name] = true
	}
	for _, s := range all.Schemes {
		if all.Public && g.schemes[s.Name] && needsToken(s) {
			return nil, fetch.Usage.Errorf("a public server shows no live pages of %s URLs, because they show data of the user", s.Name)
		}
	}
	linked := policies[reachAll]
	linked.Redirects = []string{"*"}
	policies[reachLinked] = linked
	for r, p := range policies {
		p.Blocked, p.MaxTime = isListener(all.Address), -1 // each request has its own time limit
		for _, personal := range []bool{false, true} {
			if personal && all.Public {
				continue
			}
			c, err := opts.Client(p, personal)
			if err != nil {
				return nil, errors.Join(err, g.close())
			}
			g.clients[clientKey{r, personal}] = c
		}
	}
	return g, nil
}

// close closes all Clients and forgets all logins.
func (g *gate) close() (err error) {
	g.logins.Close()
	for _, c := range g.clients {
		err = errors.Join(err, c.Close())
	}
	return err
}

// isListener returns a function that reports whether a connection to an address
// could reach this server itself. Live pages must not request its own pages.
func isListener(address net.Addr) func(netip.AddrPort) bool {
	listener, err := netip.ParseAddrPort(address.String())
	interfaces := new(localaddr.Set)
	return func(to netip.AddrPort) bool {
		a := to.Addr()
		if err != nil || to.Port() != listener.Port() {
			return false
		}
		local, err := interfaces.Contains(a)
		return a.IsLoopback() || a.IsUnspecified() || a == listener.Addr().Unmap() ||
			listener.Addr().IsUnspecified() && (local || err != nil)
	}
}

// A liveTarget is the request target of a live page.
type liveTarget struct {
	parameters
	raw    bool   // true for the bytes of the object, false for a page
	feed   bool   // true for an Atom feed of the entries of a listing
	inline bool   // true for the object without a banner, for use inside a page
	via    string // signature of the link, or ""
	url    uri.URI
}

// signature matches the value of the parameter "via", which is a signature in
// base64url.
var signature = lazy.Regexp(`^[A-Za-z0-9_-]+$`)

// parseLive parses rest, the part of the request target after the name of the
// route. The result ok is false if a parameter is invalid.
func parseLive(raw bool, rest string) (t liveTarget, ok bool, err error) {
	t.raw = raw
	text, url, _ := strings.Cut(rest, "/")
	var others string
	for parameter := range strings.SplitSeq(strings.TrimPrefix(text, ";"), ";") {
		value, via := strings.CutPrefix(parameter, "via=")
		switch {
		case via && signature().MatchString(value):
			t.via = value
		case parameter == "inline":
			t.inline = true
		case parameter == "feed" && !raw:
			t.feed = true
		case text != "":
			others += ";" + parameter
		}
	}
	if t.parameters, ok = parseParameters(others); !ok {
		return t, false, nil
	}
	u, err := uri.ParseZone(uri.EscapeNonASCII(url))
	if err == nil && u.Scheme() == "" {
		err = fetch.BadURL.Errorf("the URL has no scheme")
	}
	t.url = u.WithoutFragment()
	return t, true, err
}

// path returns the request target of t with the signature via.
func (t liveTarget) path(base, via string) string {
	text := base + "/live"
	if t.raw {
		text = base + "/raw"
	}
	if t.inline {
		text += ";inline"
	}
	if t.feed {
		text += ";feed"
	}
	if t.part != "" {
		text += ";part=" + t.part
	}
	if t.first {
		text += ";preview"
	}
	text += sortParameters(t.order.String(), t.page)
	if via != "" {
		text += ";via=" + via
	}
	return text + "/" + t.url.Unredacted()
}

// retrieve sends the request req with the permission p. It does not follow
// redirects.
func (g *gate) retrieve(
	ctx context.Context, scheme fetch.Scheme, req *fetch.Request, p guard.Permission, personal bool,
) (*fetch.Response, error) {
	req = req.Clone()
	req.NoFollow, req.ErrorBody = true, true
	r := reachAll
	switch {
	case p.Level == guard.Entered && !scheme.Local:
		r, ctx = reachPublic, g.withNames(ctx)
	case p.Level == guard.Link && !(personal && scheme.Traits.Mailbox && sameServer(p.Source.URL, req.URL)):
		req.From = &p.Source
	case p.Level == guard.Public:
		if scheme.Local || scheme.Links.Confined {
			refusal := &fetch.Refusal{Rule: "URLs of this scheme must come from the user", Subject: scheme.Name}
			return nil, fetch.BadReferral.With(refusal)
		}
		source, err := uri.Parse(scheme.Name + ":") // a page of the same scheme on another server
		if err != nil {
			return nil, fetch.Internal.With(err)
		}
		// Some schemes, such as finger, must not be linked from any page. This
		// rule does not apply here, because the source of the URL is unknown.
		r, req.From = reachLinked, &fetch.Source{URL: source}
	}
	resp, err := g.clients[clientKey{r, personal}].Do(ctx, req)
	if listed := g.clients[clientKey{reachListed, personal}]; listed != nil && errors.Is(err, fetch.BadAddress) {
		if again, refused := listed.Do(ctx, req); !errors.Is(refused, fetch.BadAddress) {
			return again, refused
		}
	}
	return resp, err
}

// withNames returns a context in which a proxy may resolve the names of URLs that
// the user entered, unless the server is public.
func (g *gate) withNames(ctx context.Context) context.Context {
	if g.public {
		return ctx
	}
	return proxy.WithNames(ctx)
}

// sameServer reports whether two URLs have the same scheme, host and port. A
// mailbox and its messages have the same server.
func sameServer(a, b uri.URI) bool {
	port := func(u uri.URI) string { text, _ := u.Port(); return cmp.Or(text, "default") }
	return a.Scheme() == b.Scheme() && strings.EqualFold(a.Host(), b.Host()) && port(a) == port(b)
}
