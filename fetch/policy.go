package fetch

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/base/localaddr"
)

// A Policy limits the connections and transfers of a Client. The zero Policy is
// the result of [Public]. The functions [Typed] and [Allowlist] return other
// policies. The fields may be changed before the Policy is passed to New.
type Policy struct {
	reach reach    // Public, Typed or Allowlist
	hosts []string // allowed hosts if reach is listed

	interfaces *localaddr.Set // addresses of this machine; nil if no Client uses the Policy

	Schemes         []string       // allowed schemes; nil means all, but schemes with Local set only with Typed
	Redirects       []string       // schemes allowed for links besides Scheme.Links; "*" means all but confined schemes
	RedirectsOnly   []string       // if not nil, only these schemes are allowed for links and redirects
	Ports           []PortRule     // ports allowed besides Scheme.Ports
	Addresses       []netip.Prefix // addresses allowed in URLs that the user entered, including metadata services
	WebPorts        bool           // for http and https, block only the ports that browsers block
	Downgrade       bool           // allow Links.Downgrade, such as links from https to http
	LocationTrusted bool           // send credentials after redirects to all hosts, and client certificates to all servers; not from http to another kind of scheme

	// Blocked reports whether connections to an address are forbidden. A
	// program can use it to protect its own listeners. It also applies to
	// proxies and to data connections. It may be nil.
	Blocked func(netip.AddrPort) bool

	MaxHops int // redirects per request; 0 means 10, negative means none

	// MaxBody is the maximum size of a body in bytes, after the decoding of content
	// codings. 0 means no limit. The error has the Fault TooLarge. Client.Do and
	// Client.Get return it if the server announces a larger size, and otherwise
	// Body.Read, after MaxBody bytes.
	MaxBody int64

	// MaxTime is the maximum duration of a request, including the transfer of
	// the body. A negative value means no limit. Zero means 5 minutes
	// in the Policy Public, and no limit in Typed and Allowlist.
	MaxTime time.Duration

	Connect time.Duration // timeout of a connection attempt to one address; 0 means 10 seconds
	Idle    time.Duration // maximum time without receiving or sending a byte; 0 means 60 seconds, negative means no limit
	MinRate int64         // minimum bytes per second, measured over Idle or a minute; 0 means 1024, negative means no minimum
}

// reach is the set of addresses that a Policy allows.
type reach uint8

const (
	publicOnly reach = iota // only public addresses
	anywhere                // all addresses if the user entered the URL; fewer for links
	listed                  // only Policy.hosts
)

// Public returns the zero Policy, which is safe for URLs from untrusted
// sources.
func Public() Policy { return Policy{} }

// Typed returns the Policy for URLs that the user entered. It allows these URLs
// to name any host except metadata services, and the schemes with Local set.
//
// A link or redirect from a public server can lead to public addresses only. One
// from a private network can also lead to addresses of the same network. Its scheme
// must be in Scheme.Links of the document's scheme. For example, https documents
// lead to https only. The file doc/policy.md has all rules, also those for ports.
func Typed() Policy { return Policy{reach: anywhere} }

// Allowlist returns a Policy that allows only the given hosts. Each host is a
// name, an IP address, a prefix such as "192.0.2.0/24", or a pattern such as
// "*.example.org". The pattern matches subdomains, but not example.org itself.
//
// A listed name is allowed with every address to which it resolves. A listed
// address or prefix is allowed under every name. Metadata services are never
// allowed. Invalid hosts are ignored.
func Allowlist(hosts ...string) Policy { return Policy{reach: listed, hosts: hosts} }

// A Refusal is the error for a request or connection that the Policy rejected.
// It is wrapped in an error with the Fault BadPort, BadAddress or BadReferral.
type Refusal struct {
	Rule    string // description of the violated rule
	Subject string // the rejected port, address or scheme
}

// Error returns the rule and the subject as text. The text may contain parts of
// an untrusted URL.
func (r *Refusal) Error() string {
	s := "denied by policy: " + r.Rule
	if r.Subject != "" {
		s += ": " + r.Subject
	}
	return s
}

func (p *Policy) maxHops() int { return orDefault(p.MaxHops, 10) }

func (p *Policy) maxTime() time.Duration {
	if p.MaxTime == 0 && p.reach != publicOnly {
		return 0
	}
	return orDefault(p.MaxTime, 5*time.Minute)
}

func (p *Policy) connectTime() time.Duration { return orDefault(p.Connect, 10*time.Second) }
func (p *Policy) idleTime() time.Duration    { return orDefault(p.Idle, time.Minute) }
func (p *Policy) minRate() int64             { return orDefault(p.MinRate, 1024) }

// rateWindow returns the period over which the transfer rate is compared with
// MinRate.
func (p *Policy) rateWindow() time.Duration { return cmp.Or(p.idleTime(), time.Minute) }

// orDefault returns n if it is positive, the default def if n is zero, and zero
// if n is negative.
func orDefault[N ~int | ~int64](n, def N) N {
	if n == 0 {
		return def
	}
	return max(n, 0)
}

// checkName applies the Policy to a host name before it is resolved. The
// parameter known is true if the user entered the name, or if a document on the
// same host supplied it. The parameter local is true if a document on this
// machine supplied the name. Other documents must not link to localhost.
func (p *Policy) checkName(host string, known, local bool) error {
	name := strings.TrimSuffix(host, ".")
	switch {
	case slices.Contains(metadataNames, name) && (!known || p.reach != anywhere):
		return rejectAddress("name of a metadata service", host)
	case !known && !local && (slices.Contains(localNames, name) || strings.HasSuffix(name, ".localhost")):
		return rejectAddress("a server led to a name of this machine", host)
	case p.reach == listed && !p.allowsName(name) && !p.listsAddresses():
		return rejectAddress("host is not on the list", host)
	}
	return nil
}

// checkAddr applies the Policy to one resolved IP address of the target t.
// Every connection passes this check.
func (p *Policy) checkAddr(g *grant, t Target, a netip.Addr) error {
	if (g.typed || g.configured) && p.allowsAddr(a) {
		return nil
	}
	c, local := p.classOf(a)
	refuse := func(rule string, setting override.Setting) error {
		subject := a.String()
		if subject != t.Host {
			subject = t.Host + " is " + subject
		}
		return BadAddress.With(override.With(&Refusal{Rule: rule, Subject: subject}, setting))
	}
	switch {
	case c == metadata:
		setting := override.Setting{}
		if g.typed || g.configured { // no setting allows links to metadata services
			setting = override.Setting{Kind: override.Addresses, Value: a.Unmap().String()}
		}
		return refuse("address of a metadata service", setting)
	case g.configured:
		return nil
	case a.Zone() != "" && !g.typed && !g.isPageServer(t):
		return refuse("an address with a zone must be typed by the user", override.Setting{})
	case p.reach == listed:
		if !p.allowsName(strings.TrimSuffix(t.Host, ".")) && !p.listsAddr(a) {
			return refuse("address is not on the list", override.Setting{})
		}
	case p.reach == publicOnly && local:
		return refuse("the address belongs to this machine", override.Setting{})
	case p.reach == publicOnly && c != public:
		return refuse("the address is "+c.String()+", not public", override.Setting{})
	case !g.typed && !g.allowsClass(a, c) && local:
		return refuse("a "+g.pageClass.String()+" page led to an address of this machine", override.Setting{})
	case !g.typed && !g.allowsClass(a, c):
		return refuse("a "+g.pageClass.String()+" page led to a "+c.String()+" address", override.Setting{})
	}
	if !g.typed && !g.isPageServer(t) && c != public && slices.Contains(textServices, t.Port) && !p.allowsPort(t.Scheme, t.Port, false) {
		// These ports are not blocked on public hosts, because public hosts
		// often run Web servers on them.
		return p.rejectPort("text-service", t, false)
	}
	return nil
}

// classOf returns the class of an address. The addresses of this machine have the
// class loopback, because a firewall does not protect its services from its own
// connections. The same applies to IPv6 addresses that contain such an address.
// The result local is true for these addresses if they are not in a loopback
// prefix.
func (p *Policy) classOf(a netip.Addr) (c class, local bool) {
	c = classOf(a)
	if c <= loopback {
		return c, false
	}
	a = a.WithZone("").Unmap()
	for _, own := range append(embeddedIPv4(a), a) {
		if local, _ := p.interfaces.Contains(own); local { // after an error, the table alone determines the class
			return loopback, true
		}
	}
	return c, false
}

func rejectAddress(rule, subject string) error {
	return BadAddress.With(&Refusal{Rule: rule, Subject: subject})
}

func (p *Policy) allowsAddr(a netip.Addr) bool {
	return slices.ContainsFunc(p.Addresses, func(ok netip.Prefix) bool { return ok.Contains(a.WithZone("").Unmap()) })
}

func (p *Policy) allowsName(name string) bool {
	return slices.ContainsFunc(p.hosts, func(h string) bool {
		if domain, ok := strings.CutPrefix(h, "*."); ok {
			return strings.HasSuffix(name, "."+strings.ToLower(domain))
		}
		return strings.EqualFold(h, name)
	})
}

func (p *Policy) listsAddr(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	return slices.ContainsFunc(p.hosts, func(h string) bool {
		listed, ok := parseAddressOrPrefix(h)
		return ok && listed.Contains(a)
	})
}

func (p *Policy) listsAddresses() bool {
	return slices.ContainsFunc(p.hosts, func(h string) bool { _, ok := parseAddressOrPrefix(h); return ok })
}

// parseAddressOrPrefix parses an IP address or a prefix such as 192.0.2.0/24.
// An address is returned as a prefix that contains only this address. The IPv6
// form of an IPv4 address or prefix is converted to IPv4.
func parseAddressOrPrefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}, false
	}
	a = a.WithZone("").Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}

// ParseAddressRule parses an IP address or a prefix, such as 192.0.2.0/24, for
// Policy.Addresses. The error has the Fault Usage.
func ParseAddressRule(s string) (netip.Prefix, error) {
	p, ok := parseAddressOrPrefix(s)
	if !ok {
		return p, Usage.Errorf("address rule %q is neither an address nor a prefix", s)
	}
	return p, nil
}
