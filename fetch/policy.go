package fetch

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// A Policy says what a Client may reach and how much it may bring. It is
// data: the zero Policy is [Public], the others are [Typed] and [Allowlist],
// and any of them may be changed before New.
type Policy struct {
	Reach Reach
	Hosts []string // for Listed, and read there alone: see [Allowlist]

	Schemes         []string       // that may be used; nil: all, but those with Scheme.Local under Anywhere alone
	Redirects       []string       // that a server may lead to beyond Scheme.Links; "*": all that are not Links.Confined
	RedirectsOnly   []string       // if not nil, a server may lead to these schemes alone
	Ports           []PortRule     // allowed beyond Scheme.Ports
	Addresses       []netip.Prefix // allowed where typed, metadata services too
	WebPorts        bool           // http and https of servers are held to the browsers' list alone
	Downgrade       bool           // a page may lead to Links.Downgrade: from https to http
	LocationTrusted bool           // credentials follow a redirect to any host

	MaxHops int           // redirects of one request; 0: 10, negative: none
	MaxBody int64         // bytes of one body; 0: no limit
	MaxTime time.Duration // of one request and its body; 0: 5 minutes where Reach is PublicOnly, else none; negative: none
	Connect time.Duration // for one address to answer; 0: 10 seconds
	Idle    time.Duration // without a byte; 0: 60 seconds, negative: none
	MinRate int64         // bytes a second over a minute, less is a stall; 0: 1024, negative: none
}

// Reach says which addresses a Policy lets a Client connect to.
type Reach uint8

const (
	PublicOnly Reach = iota // public addresses
	Anywhere                // what a person typed may be anywhere; what a server supplied may not
	Listed                  // Policy.Hosts
)

// Public is the zero Policy: for URLs from strangers.
func Public() Policy { return Policy{} }

// Typed is the Policy for a person's own URLs: they may be anywhere but a
// metadata service; where a server leads from there is another matter.
func Typed() Policy { return Policy{Reach: Anywhere} }

// Allowlist is the Policy that reaches the given hosts alone, each a name,
// "*.example.org" (which is not example.org), an address or a prefix; what is
// none of these matches nothing. A name is reached wherever it resolves to,
// but for metadata services; under an address or a prefix, by any name.
func Allowlist(hosts ...string) Policy { return Policy{Reach: Listed, Hosts: hosts} }

// A Refusal is the Policy's no. It stands in the chain of the error, together
// with a Fault: BadPort, BadAddress or BadReferral.
type Refusal struct {
	Rule     string   // which rule, in words
	Subject  string   // what it was applied to
	Override Override // the setting that allows it; zero if there is none
}

// Error says rule and subject. The subject is text that a URL may contain.
func (r *Refusal) Error() string {
	s := "refused by policy: " + r.Rule
	if r.Subject != "" {
		s += ": " + r.Subject
	}
	return s
}

func (p *Policy) maxHops() int { return orDefault(p.MaxHops, 10) }

func (p *Policy) maxTime() time.Duration {
	if p.MaxTime == 0 && p.Reach != PublicOnly {
		return 0
	}
	return orDefault(p.MaxTime, 5*time.Minute)
}

func (p *Policy) connectTime() time.Duration { return orDefault(p.Connect, 10*time.Second) }
func (p *Policy) idleTime() time.Duration    { return orDefault(p.Idle, time.Minute) }
func (p *Policy) minRate() int64             { return orDefault(p.MinRate, 1024) }

// orDefault is n where it is positive, what where it is zero, else zero.
func orDefault[N ~int | ~int64](n, what N) N {
	if n == 0 {
		return what
	}
	return max(n, 0)
}

// judgeName refuses names such as localhost, whatever they resolve to. A name
// is known if a person typed it, or if a page of the same host leads to it.
func (p *Policy) checkName(host string, known bool) error {
	name := strings.TrimSuffix(host, ".")
	switch {
	case slices.Contains(metadataNames, name) && (!known || p.Reach != Anywhere):
		return rejectAddress("name of a metadata service", host)
	case !known && (slices.Contains(localNames, name) || strings.HasSuffix(name, ".localhost")):
		return rejectAddress("a server led to this machine", host)
	case p.Reach == Listed && !p.allowsName(name) && !p.listsAddresses():
		return rejectAddress("host is not on the list", host)
	}
	return nil
}

// judgeAddr judges one numeric address, the only form that counts: that of t
// or one that its name resolved to.
func (p *Policy) checkAddr(g *grant, t Target, a netip.Addr) error {
	if (g.typed || g.configured) && p.allowsAddr(a) {
		return nil
	}
	c := classOf(a)
	refuse := func(rule string, override Override) error {
		subject := a.String()
		if subject != t.Host {
			subject = t.Host + " is " + subject
		}
		return BadAddress.With(&Refusal{Rule: rule, Subject: subject, Override: override})
	}
	switch {
	case c == metadata:
		override := Override{}
		if g.typed || g.configured { // no rule allows it where a server led
			override = Override{OverrideAddresses, a.Unmap().String()}
		}
		return refuse("address of a metadata service", override)
	case g.configured:
		return nil
	case a.Zone() != "" && !g.typed && !g.isPageServer(t):
		return refuse("only a person may type a zone", Override{})
	case p.Reach == Listed:
		if !p.allowsName(strings.TrimSuffix(t.Host, ".")) && !p.listsAddr(a) {
			return refuse("address is not on the list", Override{})
		}
	case p.Reach == PublicOnly && c != public:
		return refuse("the address is "+c.String()+", not public", Override{})
	case !g.typed && !g.allowsClass(a, c):
		return refuse("a "+g.pageClass.String()+" page led to a "+c.String()+" address", Override{})
	}
	if !g.typed && !g.isPageServer(t) && c != public && slices.Contains(textServices, t.Port) && !p.allowsPort(t.Scheme, t.Port, false) {
		// On the public network such a port may well be the Web's.
		return p.rejectPort("text-service", t, false)
	}
	return nil
}

func rejectAddress(rule, subject string) error {
	return BadAddress.With(&Refusal{Rule: rule, Subject: subject})
}

func (p *Policy) allowsAddr(a netip.Addr) bool {
	return slices.ContainsFunc(p.Addresses, func(ok netip.Prefix) bool { return ok.Contains(a.WithZone("").Unmap()) })
}

func (p *Policy) allowsName(name string) bool {
	return slices.ContainsFunc(p.Hosts, func(h string) bool {
		if domain, ok := strings.CutPrefix(h, "*."); ok {
			return strings.HasSuffix(name, "."+strings.ToLower(domain))
		}
		return strings.EqualFold(h, name)
	})
}

func (p *Policy) listsAddr(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return slices.ContainsFunc(p.Hosts, func(h string) bool {
		listed, ok := parseAddressOrPrefix(h)
		return ok && listed.Contains(a)
	})
}

func (p *Policy) listsAddresses() bool {
	return slices.ContainsFunc(p.Hosts, func(h string) bool { _, ok := parseAddressOrPrefix(h); return ok })
}

// parsePrefix reads a prefix, or an address as the prefix of itself.
func parseAddressOrPrefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, false
	}
	a = a.WithZone("").Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}

// ParseAddressRule reads what --allow-address takes: an address or a prefix.
func ParseAddressRule(s string) (netip.Prefix, error) {
	p, ok := parseAddressOrPrefix(s)
	if !ok {
		return p, Usage.Errorf("address rule %q is neither an address nor a prefix", s)
	}
	return p, nil
}
