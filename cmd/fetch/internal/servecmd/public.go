package servecmd

import (
	"net"
	"net/netip"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
)

// servePublicFlags are the flags of fetch serve for clients on other machines.
type servePublicFlags struct {
	public  bool
	proxies []string
}

func (f *servePublicFlags) Register(s *options.Set) {
	p := s.Own("Flags")
	p.BoolVar(&f.public, "public", false, "serve other machines, with limits for each client")
	p.StringArrayVar(&f.proxies, "reverse-proxy", nil,
		"with --public, read the client address from X-Forwarded-For of `ADDRESS|PREFIX`")
}

// apply sets the options for clients on other machines in opts.
func (f *servePublicFlags) apply(opts *gateway.Options) error {
	opts.Public = f.public
	for _, text := range f.proxies {
		prefix, err := fetch.ParseAddressRule(text)
		if err != nil {
			return fetch.Usage.Errorf("--reverse-proxy: %w", err)
		}
		opts.ReverseProxies = append(opts.ReverseProxies, prefix)
	}
	if len(f.proxies) > 0 && !f.public {
		return fetch.Usage.Errorf("--reverse-proxy requires --public")
	}
	return nil
}

// open listens on address. Without --public, it accepts only a loopback
// address.
func (f *servePublicFlags) open(address string) (net.Listener, error) {
	if f.public {
		return gateway.ListenPublic(address)
	}
	if host, _, err := net.SplitHostPort(address); err == nil && host != "localhost" {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.IsLoopback() {
			return nil, fetch.Usage.Errorf("--listen %s: other addresses than loopback require --public", address)
		}
	}
	return gateway.Listen(address)
}
