package fetch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
)

// A Resolver looks up the IP addresses of a host name. *net.Resolver implements
// this interface.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// SystemResolver returns a Resolver that uses the system's configuration. It is
// the Go resolver, because the resolver of the C library also accepts 127.1 and
// 0x7f.1 as addresses.
func SystemResolver() Resolver { return &net.Resolver{PreferGo: true} }

// ServerResolver returns a Resolver that is like [SystemResolver] but sends its
// queries to the given DNS servers. If servers is empty, it uses the DNS servers
// of the system. If local is not empty, the queries leave from the address in local
// that has the family of the server. A server without such an address is not used.
func ServerResolver(servers []netip.AddrPort, local []netip.Addr) Resolver {
	from := func(to netip.Addr) int {
		return slices.IndexFunc(local, func(a netip.Addr) bool { return a.Unmap().Is4() == to.Unmap().Is4() })
	}
	usable := slices.DeleteFunc(slices.Clone(servers), func(to netip.AddrPort) bool { return len(local) > 0 && from(to.Addr()) < 0 })
	var count atomic.Uint32
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		to, err := netip.ParseAddrPort(address)
		switch n := uint32(len(usable)); {
		case n > 0:
			to, err = usable[(count.Add(1)-1)%n], nil
		case len(servers) > 0:
			to, err = servers[0], nil
		}
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		if len(local) > 0 {
			i := from(to.Addr())
			if i < 0 {
				return nil, Connect.Errorf("no local address of the same family as the DNS server %v", to.Addr())
			}
			d.LocalAddr = localAddr(network, local[i], 0)
		}
		return d.DialContext(ctx, network, to.String())
	}}
}

// maxAddrs is the maximum number of addresses of one host name that the dialer
// tries.
const maxAddrs = 16

func (d *dialer) resolve(ctx context.Context, t Target, ours bool) ([]netip.Addr, error) {
	if t.Addr.IsValid() {
		return []netip.Addr{t.Addr}, nil
	}
	if t.Host == "" {
		return nil, BadURL.Errorf("no host")
	}
	name := t.Host
	if bare := strings.TrimSuffix(name, "."); bare == "localhost" || strings.HasSuffix(bare, ".localhost") {
		name = "localhost" // never sent to a DNS server (RFC 6761 section 6.3)
	}
	if !ours && strings.Contains(name, ".") && !strings.HasSuffix(name, ".") {
		name += "." // search domains must not apply to a name that a server supplied
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.policy.connectTime())
	defer cancel()
	found, err := d.resolver.LookupNetIP(ctx, "ip", name)
	if FaultOf(err) == Internal { // a resolver may return errors of any type, such as *net.AddrError
		err = DNS.With(err)
	}
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, maxAddrs)
	for _, a := range found[:min(len(found), maxAddrs)] {
		if a.IsValid() { // no rule of the Policy matches the zero Addr
			addrs = append(addrs, a.Unmap())
		}
	}
	if len(addrs) == 0 {
		return nil, DNS.Errorf("%s has no address", t.Host)
	}
	return addrs, nil
}
