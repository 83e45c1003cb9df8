package fetch

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

// A Resolver finds the addresses of a name. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// SystemResolver asks as the system is configured to, in Go: the C library's
// resolver would read 127.1 and 0x7f.1 as addresses.
func SystemResolver() Resolver { return &net.Resolver{PreferGo: true} }

// maxAddrs bounds what one name may make us try.
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
		name = "localhost" // RFC 6761 6.3: this machine, and no question for a DNS
	}
	if !ours && strings.Contains(name, ".") && !strings.HasSuffix(name, ".") {
		name += "." // a server's name is not completed with our search domains
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.policy.connectTime())
	defer cancel()
	found, err := d.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, 0, maxAddrs)
	for _, a := range found[:min(len(found), maxAddrs)] {
		if a.IsValid() { // the zero Addr is in no table of what is not public
			addrs = append(addrs, a.Unmap())
		}
	}
	if len(addrs) == 0 {
		return nil, DNS.Errorf("%s has no address", t.Host)
	}
	return addrs, nil
}
