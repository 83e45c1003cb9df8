package fetch

import (
	"context"
	"net/netip"
	"slices"
	"strconv"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/fetch/trace"
)

// A grant is the permission to open the connections of one request. The Policy
// creates the grant, and the Client puts it into the context of the request.
// The dialer rejects connections without a grant.
type grant struct {
	scheme *Scheme
	target Target
	trace  *trace.Trace

	typed      bool         // the user entered the URL
	configured bool         // the target is from the configuration
	template   bool         // the configuration supplied the URL, as for a urn
	pageKnown  bool         // the address of the server that supplied the URL is known
	pageClass  class        // class of the server that supplied the URL
	network    netip.Prefix // neighbourhood of the server that supplied the URL, if private or link-local
	pageOrigin Origin       // origin of the document that supplied the URL; zero if the user entered the URL
	firstParty bool         // all redirects so far stayed within the origin of the first URL
	anonymous  bool         // client certificates must not be used
	socket     bool         // the Unix domain socket of the dialer replaces the target
}

type grantKey struct{}

func grantOf(ctx context.Context) *grant {
	g, _ := ctx.Value(grantKey{}).(*grant)
	return g
}

// traceOf returns the Trace of the request whose grant is in ctx, or nil if
// there is none.
func traceOf(ctx context.Context) *trace.Trace {
	if g := grantOf(ctx); g != nil {
		return g.trace
	}
	return nil
}

// authorize applies the Policy to a request before its driver is called. The
// parameters from and page are the scheme and the origin of the document that
// supplied the URL. If the user entered the URL, authorize ignores both.
func (p *Policy) authorize(req *Request, scheme, from *Scheme, page Origin) (*grant, error) {
	if p.Schemes != nil && !slices.Contains(p.Schemes, scheme.Name) {
		setting := override.Setting{Kind: override.Schemes, Value: scheme.Name}
		return nil, BadReferral.With(override.With(&Refusal{Rule: "scheme is not allowed", Subject: scheme.Name}, setting))
	}
	if p.reach != anywhere && scheme.Local && !slices.Contains(p.Schemes, scheme.Name) {
		return nil, BadReferral.With(&Refusal{Rule: "scheme reads local data and is not listed in Policy.Schemes", Subject: scheme.Name})
	}
	target, err := TargetOf(req.URL, scheme.Port)
	if err != nil {
		return nil, err
	}
	g := &grant{scheme: scheme, target: target, trace: req.Trace, typed: req.Typed()}
	if !g.typed {
		if err := p.checkReferral(from, scheme, target.Port); err != nil {
			return nil, err
		}
		peer := req.From.Peer
		if from == nil || !from.Gateway {
			peer = req.From.address()
		}
		g.setPage(peer)
		g.pageKnown = peer.IsValid()
		if c, local := p.classOf(peer); local {
			g.pageClass, g.network = c, netip.Prefix{}
		}
		g.pageOrigin = page
		// The redirects of a scheme without servers, such as urn, come from the
		// configuration.
		g.configured = from != nil && from.Port == 0 && slices.Contains(from.Trust, target.Address())
		g.template = g.configured
	}
	if target.Host == "" || scheme.Port == 0 {
		return g, nil
	}
	return g, p.checkTarget(g, target)
}

// withServerTarget returns a copy of the grant for a connection to an address
// that the server of the URL supplied. The Policy checks it as in a link on a
// public page, because the page that supplied the URL did not supply the address.
func (g *grant) withServerTarget() *grant {
	s := *g
	s.typed, s.configured, s.pageClass, s.network, s.pageOrigin = false, false, public, netip.Prefix{}, Origin{}
	return &s
}

// withOtherPort returns a copy of the grant for a connection to another port of
// the host of the URL, which the server chose. The Policy checks this port as in
// a link, but allows the addresses that the URL may have. The page that supplied
// the URL does not matter, because the key of the grant does not contain it.
func (g *grant) withOtherPort() *grant {
	s := *g
	s.pageOrigin = Origin{}
	if s.configured = false; g.typed || g.configured {
		s.typed, s.pageClass = false, loopback
	}
	return &s
}

// isPageServer reports whether t is the server of the document that supplied
// the URL. The Policy allowed this host and port when the document was
// retrieved.
func (g *grant) isPageServer(t Target) bool {
	o := t.Origin()
	return g.pageOrigin.Host != "" && g.pageOrigin.Host == o.Host && g.pageOrigin.Port == o.Port
}

// isUnresolved reports whether a proxy resolved the host of t for the document that
// supplied the URL.
func (g *grant) isUnresolved(t Target) bool {
	return g.pageOrigin.Host != "" && g.pageOrigin.Host == t.Origin().Host && !g.pageKnown
}

// withConfiguredTarget returns a copy of the grant for a connection to an
// address from the configuration, such as a proxy.
func (g *grant) withConfiguredTarget() *grant {
	s := *g
	s.configured = true
	return &s
}

// setPage sets the class and the network of the server that supplied the URL. An
// unknown address, and one that no server on the Internet should have, count as
// public.
func (g *grant) setPage(peer netip.Addr) {
	g.pageClass = public
	if !peer.IsValid() {
		return
	}
	switch c := classOf(peer); c {
	case private, linkLocal:
		g.pageClass, g.network = c, neighbourhood(peer)
	case loopback:
		g.pageClass = c
	}
}

// checkTarget applies the rules of the Policy for schemes, hosts and ports. It
// runs before the host name is resolved.
func (p *Policy) checkTarget(g *grant, t Target) error {
	if g.configured {
		return nil
	}
	if t.Port != 0 { // zero if the scheme has no ports
		if err := p.checkPort(g, t); err != nil {
			return err
		}
	}
	if t.Addr.IsValid() {
		return p.checkAddr(g, t, t.Addr)
	}
	return p.checkName(t.Host, g.typed || g.isPageServer(t), !g.typed && g.pageClass == loopback)
}

func (p *Policy) checkPort(g *grant, t Target) error {
	if rule, _ := p.portVerdictFor(g, t); rule != "" {
		return p.rejectPort(rule, t, g.typed)
	}
	return nil
}

// portVerdictFor returns the rule that blocks the port of t, or "" if the port
// is allowed. A document may link to its own host and port if the port is
// allowed in a URL that the user entered. A PortRule applies to such a link
// only if its field Any is set.
func (p *Policy) portVerdictFor(g *grant, t Target) (rule string, unusual bool) {
	rule, unusual = p.portVerdict(g.scheme, t.Port, g.typed)
	if rule != "" && g.isPageServer(t) {
		return new(Policy).portVerdict(g.scheme, t.Port, true)
	}
	return rule, unusual
}

func (p *Policy) rejectPort(rule string, t Target, typed bool) error {
	port := strconv.Itoa(int(t.Port))
	setting := override.Setting{Kind: override.Ports, Value: t.Scheme + ":" + port}
	if !typed {
		setting.Value += ":any"
	}
	if rule == "range" {
		setting = override.Setting{}
	}
	return BadPort.With(override.With(&Refusal{Rule: portRules[rule], Subject: t.Scheme + " port " + port}, setting))
}

// allowsClass reports whether a server may link to an address of the given
// class. The address must be as public as the server or more public. If the
// server is on a private network or on the local link, an address that is not
// public must be in the same neighbourhood.
func (g *grant) allowsClass(a netip.Addr, c class) bool {
	if c <= reserved || c < g.pageClass {
		return false
	}
	if c < public && g.network.IsValid() {
		return g.network == neighbourhood(a)
	}
	return true
}

// key returns the part of a connection pool key that depends on the grant.
// Requests with different permissions have different keys and share no
// connections.
func (g *grant) key() string {
	key := "from " + g.pageClass.String()
	switch {
	case g.typed:
		key = "typed"
	case g.template: // may have every address
		key = "configured"
	case g.network.IsValid():
		key = "from " + g.network.String()
	}
	if g.isPageServer(g.target) && slices.Contains(textServices, g.target.Port) || g.isUnresolved(g.target) {
		key += ", own server" // pages of other servers have fewer permissions
	}
	if g.anonymous {
		key += anonymousKey
	}
	return key
}

// anonymousKey is a part of the key of a request without client certificates.
const anonymousKey = ", anonymous"
