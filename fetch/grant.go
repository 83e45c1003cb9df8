package fetch

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
)

// A grant is the Policy's leave for one request, carried in its ctx to the
// door. Without one nothing is dialled.
type grant struct {
	scheme *Scheme
	target Target
	trace  *Trace

	typed      bool         // no server had a say in the URL
	configured bool         // the configuration named the address that is dialled
	pageClass  class        // of the page that led here, where one did
	network    netip.Prefix // its neighbourhood, where it is private or link-local
	pageOrigin Origin       // of the page that led here; zero for a typed URL
	firstParty bool         // no redirect has left the origin that was asked for
}

type grantKey struct{}

func grantOf(ctx context.Context) *grant {
	g, _ := ctx.Value(grantKey{}).(*grant)
	return g
}

// judge decides on a request before its driver sees it. From and page are the
// scheme and the origin of the page that led to the request. They are not used
// for a typed URL.
func (p *Policy) authorize(req *Request, scheme, from *Scheme, page Origin) (*grant, error) {
	if p.Schemes != nil && !slices.Contains(p.Schemes, scheme.Name) {
		return nil, BadReferral.With(&Refusal{Rule: "scheme is not allowed", Subject: scheme.Name, Override: Override{OverrideSchemes, scheme.Name}})
	}
	if p.Reach != Anywhere && scheme.Local && !slices.Contains(p.Schemes, scheme.Name) {
		return nil, BadReferral.With(&Refusal{Rule: "scheme reads this machine, and nobody named it in Policy.Schemes", Subject: scheme.Name})
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
		g.pageOrigin = page
	}
	if target.Host == "" || scheme.Port == 0 {
		return g, nil
	}
	return g, p.checkTarget(g, target)
}

// serverSupplied is g for an address that the server of a typed URL gave.
func (g *grant) withServerTarget() *grant {
	if !g.typed {
		return g
	}
	s := *g
	s.typed, s.pageClass = false, public
	return &s
}

// stays reports whether t has the host and the port of the page that led here.
// The Policy has granted access to that server before.
func (g *grant) isPageServer(t Target) bool {
	o := t.Origin()
	return g.pageOrigin.Host != "" && g.pageOrigin.Host == o.Host && g.pageOrigin.Port == o.Port
}

// configured is g for an address that the configuration named.
func (g *grant) withConfiguredTarget() *grant {
	s := *g
	s.configured = true
	return &s
}

func (g *grant) setPage(peer netip.Addr) {
	g.pageClass = public
	if !peer.IsValid() {
		return
	}
	if g.pageClass = classOf(peer); g.pageClass == private || g.pageClass == linkLocal {
		g.network = neighbourhood(peer)
	}
}

// judgeTarget judges what can be judged before the name is resolved.
func (p *Policy) checkTarget(g *grant, t Target) error {
	if g.configured {
		return nil
	}
	if t.Port != 0 { // else the scheme has none
		if err := p.checkPort(g, t); err != nil {
			return err
		}
	}
	if t.Addr.IsValid() {
		return p.checkAddr(g, t, t.Addr)
	}
	return p.checkName(t.Host, g.typed || g.isPageServer(t))
}

func (p *Policy) checkPort(g *grant, t Target) error {
	if rule, _ := p.portVerdictFor(g, t); rule != "" {
		return p.rejectPort(rule, t, g.typed)
	}
	return nil
}

// judgedPort returns the portVerdict for t. A page may lead to its own host and
// port if the tables allow that port in a typed URL. A PortRule counts there
// only if it has Any.
func (p *Policy) portVerdictFor(g *grant, t Target) (rule string, unusual bool) {
	rule, unusual = p.portVerdict(g.scheme, t.Port, g.typed)
	if rule != "" && g.isPageServer(t) {
		return new(Policy).portVerdict(g.scheme, t.Port, true)
	}
	return rule, unusual
}

func (p *Policy) rejectPort(rule string, t Target, typed bool) error {
	port := strconv.Itoa(int(t.Port))
	override := Override{OverridePorts, t.Scheme + ":" + port}
	if !typed {
		override.Value += ":any"
	}
	if rule == "range" {
		override = Override{}
	}
	return BadPort.With(&Refusal{Rule: portRules[rule], Subject: t.Scheme + " port " + port, Override: override})
}

// mayReach applies the order of classes: never to a less public one, and on a
// private network not beyond the neighbourhood.
func (g *grant) allowsClass(a netip.Addr, c class) bool {
	if c <= reserved || c < g.pageClass {
		return false
	}
	if c == g.pageClass && g.network.IsValid() {
		return g.network.Contains(a.WithZone("").Unmap())
	}
	return true
}

// key names what the grant allows: connections are shared within it.
func (g *grant) key() string {
	switch {
	case g.typed:
		return "typed"
	case g.network.IsValid():
		return "from " + g.network.String()
	}
	return "from " + g.pageClass.String()
}
