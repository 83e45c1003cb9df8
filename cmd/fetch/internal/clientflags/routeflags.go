package clientflags

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri/iri"
)

// routeFlags are the flags that determine the addresses of connections, such as
// --resolve and --interface.
type routeFlags struct {
	resolve   []string
	connectTo []string
	v4, v6    bool
	local     string
	socket    string
}

func (f *routeFlags) register(s *options.Set) {
	p := s.Section("Connections and proxies")
	p.StringArrayVar(&f.resolve, "resolve", nil, "`HOST:PORT:ADDR`: use the address ADDR for HOST and PORT")
	p.StringArrayVar(&f.connectTo, "connect-to", nil, "`HOST1:PORT1:HOST2:PORT2`: connect to HOST2 instead of HOST1")
	p.StringVar(&f.local, "interface", "", "use the network interface or the local IP address `NAME`")
	p.StringVar(&f.socket, "unix-socket", "", "connect to the Unix socket at `PATH`, not to the host of the URL")
	p.Func("abstract-unix-socket", "connect to the abstract Unix socket `NAME` of Linux", f.setAbstract)
	p.BoolVarP(&f.v4, "ipv4", "4", false, "use only IPv4 addresses")
	p.BoolVarP(&f.v6, "ipv6", "6", false, "use only IPv6 addresses")
}

// setAbstract handles --abstract-unix-socket. Package net uses @ for the zero
// byte at the start of such a name.
func (f *routeFlags) setAbstract(name string) error {
	if runtime.GOOS != "linux" || name == "" {
		return fetch.Unsupported.Errorf("--abstract-unix-socket requires Linux and a name")
	}
	f.socket = "@" + name
	return nil
}

// localAddrs returns the local addresses that --interface selects, or nil. As
// in curl, the value is the name of an interface, an address, or a host name
// that r looks up. The prefixes if! and host! select one meaning. If r is nil, the
// DNS servers of the system are used.
func (f *routeFlags) localAddrs(ctx context.Context, r fetch.Resolver) (all []netip.Addr, err error) {
	if f.local == "" {
		return nil, nil
	}
	name, onlyInterface := strings.CutPrefix(f.local, "if!")
	name, onlyHost := strings.CutPrefix(name, "host!")
	if a, err := netip.ParseAddr(name); err == nil && !onlyInterface {
		return []netip.Addr{a.Unmap()}, nil
	}
	if !onlyHost {
		if all = interfaceAddrs(name); all != nil || onlyInterface || !strings.Contains(name, ".") {
			if all == nil {
				err = fetch.Usage.Errorf("--interface %s: no network interface with an address", name)
			}
			return all, err
		}
	}
	if r == nil {
		r = fetch.SystemResolver()
	}
	return r.LookupNetIP(ctx, "ip", name)
}

// interfaceAddrs returns the addresses of the network interface with the given
// name. Link-local addresses come last. It returns nil if it finds no address.
func interfaceAddrs(name string) (all []netip.Addr) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil
	}
	list, err := i.Addrs()
	if err != nil {
		return nil
	}
	for _, a := range list {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		addr := p.Addr().Unmap()
		if addr.Is6() && addr.IsLinkLocalUnicast() {
			addr = addr.WithZone(name)
		}
		all = append(all, addr)
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return len(a.Zone()) - len(b.Zone()) })
	return all
}

// A detour is a rule that replaces the host or the port of a connection. An
// empty host or port matches every value. An empty new host or port leaves the
// original unchanged.
type detour struct {
	host    string
	port    uint16
	newHost string
	newPort uint16
}

// route returns a function that applies the rules of --resolve and --connect-to
// to a target. It returns nil if there are no rules.
func (f *routeFlags) route() (func(fetch.Target) fetch.Target, error) {
	var rules []detour
	for _, text := range f.resolve {
		d, err := parseResolve(strings.TrimPrefix(text, "+"))
		if err != nil {
			return nil, err
		}
		rules = append(rules, d)
	}
	first := len(rules)
	for _, text := range f.connectTo {
		d, err := parseConnectTo(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, d)
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return func(t fetch.Target) fetch.Target {
		// As in curl, --connect-to is applied first, and --resolve is applied
		// to the result.
		for _, part := range [][]detour{rules[first:], rules[:first]} {
			for _, d := range part {
				if d.matches(t) {
					t = d.apply(t)
					break
				}
			}
		}
		return t
	}, nil
}

// place returns the target to which --resolve and --connect-to lead a connection to
// an https server.
func (f *routeFlags) place(host string, port uint16) fetch.Target {
	own := fetch.Target{Scheme: "https", Host: host, Port: port}
	if route, err := f.route(); err == nil && route != nil {
		return route(own)
	}
	return own
}

// matches reports whether the rule applies to t. A final dot of a host has no effect,
// because a server can add it to its own host in a redirect, which then gets the
// credentials of the URL.
func (d detour) matches(t fetch.Target) bool {
	host := strings.TrimSuffix(strings.Trim(d.host, "[]"), ".")
	return (d.host == "" || d.host == "*" || strings.EqualFold(host, strings.TrimSuffix(t.Host, "."))) &&
		(d.port == 0 || d.port == t.Port)
}

func (d detour) apply(t fetch.Target) fetch.Target {
	if d.newHost != "" {
		t.Host = strings.ToLower(strings.Trim(d.newHost, "[]"))
		t.Addr, _ = netip.ParseAddr(t.Host)
	}
	if d.newPort != 0 {
		t.Port = d.newPort
	}
	return t
}

// parseResolve parses an argument of --resolve, HOST:PORT:ADDRESS[,ADDRESS...].
// Only the first address is used.
func parseResolve(text string) (detour, error) {
	bad := fetch.Usage.Errorf("--resolve %q is not HOST:PORT:ADDRESS", console.MaskLogin(text))
	host, rest := cutHost(text)
	port, addrs, ok := strings.Cut(rest, ":")
	addr, _, _ := strings.Cut(addrs, ",")
	n, err := strconv.ParseUint(port, 10, 16)
	if a, err := netip.ParseAddr(strings.Trim(addr, "[]")); err != nil || !ok || host == "" {
		return detour{}, bad
	} else if addr = a.String(); n == 0 && port != "*" {
		return detour{}, bad
	}
	if err != nil && port != "*" {
		return detour{}, bad
	}
	return detour{host: host, port: uint16(n), newHost: addr}, nil
}

// parseConnectTo parses an argument of --connect-to, HOST1:PORT1:HOST2:PORT2.
// Each part may be empty.
func parseConnectTo(text string) (detour, error) {
	var d detour
	var rest string
	d.host, rest = cutHost(text)
	port, rest, ok := strings.Cut(rest, ":")
	var err1, err2 error
	d.port, err1 = optionalPort(port)
	d.newHost, rest = cutHost(rest)
	d.newPort, err2 = optionalPort(rest)
	if !ok || err1 != nil || err2 != nil {
		return d, fetch.Usage.Errorf("--connect-to %q is not HOST1:PORT1:HOST2:PORT2", console.MaskLogin(text))
	}
	return d, nil
}

// cutHost splits s at the first colon after the host. An IPv6 address is
// enclosed in brackets. International characters are converted as in URLs.
func cutHost(s string) (host, rest string) {
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			return s[:i+1], strings.TrimPrefix(s[i+1:], ":")
		}
	}
	host, rest, _ = strings.Cut(s, ":")
	return iri.ASCIIHost(host), rest
}

func optionalPort(s string) (uint16, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err
}

// blocked returns a function for Policy.Blocked. It reports true for addresses
// that -4, -6 or the function other excludes, such as addresses in URLs. The
// parameter other may be nil.
func (f *routeFlags) blocked(other func(netip.AddrPort) bool) func(netip.AddrPort) bool {
	if f.v4 == f.v6 {
		return other
	}
	return func(to netip.AddrPort) bool {
		return to.Addr().Is4() != f.v4 || other != nil && other(to)
	}
}
