package main

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// routeFlags say where a name is, for those who know better than the DNS.
type routeFlags struct {
	resolve   []string
	connectTo []string
	v4, v6    bool
}

func (f *routeFlags) register(p *pflag.FlagSet) {
	p.StringArrayVar(&f.resolve, "resolve", nil, "find `HOST:PORT:ADDRESS` there; * is every host")
	p.StringArrayVar(&f.connectTo, "connect-to", nil, "connect to another place: `HOST:PORT:HOST2:PORT2`, empty parts as they are")
	p.BoolVarP(&f.v4, "ipv4", "4", false, "use IPv4 alone")
	p.BoolVarP(&f.v6, "ipv6", "6", false, "use IPv6 alone")
}

// a detour is one rule: empty parts match, or keep, what there is.
type detour struct {
	host string
	port uint16
	to   string
	at   uint16
}

// route is nil where no flag changes the way.
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
		// As in curl, --connect-to comes first, and --resolve finds its host.
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

func (d detour) matches(t fetch.Target) bool {
	return (d.host == "" || d.host == "*" || strings.EqualFold(strings.Trim(d.host, "[]"), t.Host)) && (d.port == 0 || d.port == t.Port)
}

func (d detour) apply(t fetch.Target) fetch.Target {
	if d.to != "" {
		t.Host = strings.ToLower(strings.Trim(d.to, "[]"))
		t.Addr, _ = netip.ParseAddr(t.Host)
	}
	if d.at != 0 {
		t.Port = d.at
	}
	return t
}

// parseResolve reads HOST:PORT:ADDRESS[,ADDRESS...]; the first address counts.
func parseResolve(text string) (detour, error) {
	bad := fetch.Usage.Errorf("--resolve %q is not HOST:PORT:ADDRESS", withoutLogin(text))
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
	return detour{host: host, port: uint16(n), to: addr}, nil
}

// parseConnectTo reads HOST1:PORT1:HOST2:PORT2, each of which may be empty.
func parseConnectTo(text string) (detour, error) {
	var d detour
	var rest string
	d.host, rest = cutHost(text)
	port, rest, ok := strings.Cut(rest, ":")
	var err1, err2 error
	d.port, err1 = optionalPort(port)
	d.to, rest = cutHost(rest)
	d.at, err2 = optionalPort(rest)
	if !ok || err1 != nil || err2 != nil {
		return d, fetch.Usage.Errorf("--connect-to %q is not HOST1:PORT1:HOST2:PORT2", withoutLogin(text))
	}
	return d, nil
}

// cutHost cuts a host, in brackets where it has colons, and the colon behind.
func cutHost(s string) (host, rest string) {
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			return s[:i+1], strings.TrimPrefix(s[i+1:], ":")
		}
	}
	host, rest, _ = strings.Cut(s, ":")
	return host, rest
}

func optionalPort(s string) (uint16, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err
}

// resolver is nil where any family will do.
func (f *routeFlags) resolver() fetch.Resolver {
	switch {
	case f.v4 == f.v6:
		return nil
	case f.v4:
		return family("ip4")
	}
	return family("ip6")
}

// family resolves to one kind of address.
type family string

func (f family) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	return fetch.SystemResolver().LookupNetIP(ctx, string(f), host)
}
