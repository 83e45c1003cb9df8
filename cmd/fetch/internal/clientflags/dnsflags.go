package clientflags

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// dnsFlags are the flags that determine how host names are resolved.
type dnsFlags struct {
	doh              string
	insecure, status bool // for the server of doh
	servers          []netip.AddrPort
	local            string // name of a network interface
	local4, local6   string // local addresses
}

func (f *dnsFlags) register(s *options.Set) {
	p := s.Section("Connections and proxies")
	p.StringVar(&f.doh, "doh-url", "", "resolve host names with DNS over HTTPS at `URL`")
	p.BoolVar(&f.insecure, "doh-insecure", false, "skip certificate verification of the server of --doh-url")
	p.BoolVar(&f.status, "doh-cert-status", false, "require an OCSP response from the server of --doh-url")
	p.Func("dns-servers", "send DNS queries to the addresses in `LIST` (ADDRESS[:PORT],...)", f.setServers)
	p.StringVar(&f.local, "dns-interface", "", "send DNS queries from an address of the network interface `NAME`")
	p.StringVar(&f.local4, "dns-ipv4-addr", "", "send DNS queries from the IPv4 address `ADDR`")
	p.StringVar(&f.local6, "dns-ipv6-addr", "", "send DNS queries from the IPv6 address `ADDR`")
}

// setServers parses the argument of --dns-servers.
func (f *dnsFlags) setServers(list string) error {
	f.servers = nil
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		to, err := netip.ParseAddrPort(item)
		if err != nil {
			var a netip.Addr
			a, err = netip.ParseAddr(strings.Trim(item, "[]"))
			to = netip.AddrPortFrom(a, 53)
		}
		if err != nil {
			return fetch.Usage.Errorf("--dns-servers: %q is not an address", item)
		}
		f.servers = append(f.servers, to)
	}
	return nil
}

// locals returns the local addresses from which queries are sent.
func (f *dnsFlags) locals() (all []netip.Addr, err error) {
	for _, text := range []string{f.local4, f.local6} {
		if text == "" {
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil || a.Is4() != (text == f.local4) {
			return nil, fetch.Usage.Errorf("--dns-ipv4-addr and --dns-ipv6-addr: %q is not such an address", text)
		}
		all = append(all, a)
	}
	if f.local != "" {
		found := interfaceAddrs(f.local)
		if found == nil {
			return nil, fetch.Usage.Errorf("--dns-interface %s: no network interface with an address", f.local)
		}
		all = append(all, found...)
	}
	return all, nil
}

// openResolver returns the resolver that the flags select, or nil for the one of
// the system. The caller closes the result closer, which may be nil.
func (f *Flags) openResolver(ctx context.Context, s *console.Streams, p fetch.Policy) (r fetch.Resolver, closer io.Closer, err error) {
	local, err := f.dns.locals()
	if err != nil {
		return nil, nil, err
	}
	if f.dns.servers != nil || local != nil {
		r = fetch.ServerResolver(f.dns.servers, local)
	}
	if f.dns.doh != "" {
		settings := f.TLS.settings()
		settings.Cert, settings.Key, settings.Pass, settings.Pinned = "", "", "", ""
		settings.Insecure, settings.Status = f.dns.insecure, f.dns.status
		o := doh.Options{URL: f.dns.doh, Resolver: r, Policy: p, LocalAddrs: local}
		if o.TLS, err = settings.Config(ctx, tlsConsole(s)); err != nil {
			return nil, nil, err
		}
		over, err := doh.New(o)
		if err != nil {
			return nil, nil, err
		}
		r, closer = over, over
	}
	return f.route.family(r), closer, nil
}

// A family is a resolver that returns only IPv4 addresses ("ip4") or only IPv6
// addresses ("ip6").
type family struct {
	network  string
	resolver fetch.Resolver
}

// family returns a resolver for the address family that -4 or -6 selects, or r
// for both families. The parameter r may be nil.
func (f *routeFlags) family(r fetch.Resolver) fetch.Resolver {
	if f.v4 == f.v6 {
		return r
	}
	if r == nil {
		r = fetch.SystemResolver()
	}
	if f.v4 {
		return family{"ip4", r}
	}
	return family{"ip6", r}
}

func (f family) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	addrs, err := f.resolver.LookupNetIP(ctx, f.network, host)
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return nil, fetch.DNS.Errorf("%s has no address of the family IPv%s", host, strings.TrimPrefix(f.network, "ip"))
	}
	return addrs, err
}
