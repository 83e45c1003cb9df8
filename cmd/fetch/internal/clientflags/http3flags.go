package clientflags

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/altsvc"
	"github.com/anyurl/fetch/schemes/http/doh"
	"github.com/anyurl/fetch/schemes/http/h3"
)

// selectHTTP3 returns HTTP/3 with the mode that the flags select, or nil if they
// select none. The other settings are copied from o.
func (f *HTTPFlags) selectHTTP3(o h3.Options) http.HTTP3 {
	o.Mode = h3.Advertised
	switch {
	case f.http3Only:
		o.Mode = h3.Only
	case f.http3:
		o.Mode = h3.Race
	case o.AltSvc == nil:
		return nil
	}
	return h3.New(o)
}

// discoverer returns the function discover, or nil if requests use a Unix domain
// socket. Their names are not resolved, and HTTP/3 cannot use the socket.
func (c *OpenClient) discoverer(f *Flags) func(ctx context.Context, host string, port uint16) []string {
	if f.route.socket != "" {
		return nil
	}
	return func(ctx context.Context, host string, port uint16) []string {
		return c.discover(ctx, host, port, f.route.place(host, port))
	}
}

// discover returns the addresses at which the HTTPS records of a server offer
// HTTP/3. It needs --doh-url, because the resolver of the system cannot query
// these records. It returns no address if a proxy is used, because HTTP/3 cannot
// use the proxy. The query would also disclose the name to the DNS server. Nor is
// there a query if --resolve or --connect-to names an address. The connection goes to
// place.
func (c *OpenClient) discover(ctx context.Context, host string, port uint16, place fetch.Target) (all []string) {
	over, ok := c.resolver.(*doh.Resolver)
	if _, err := netip.ParseAddr(host); !ok || err == nil || place.Addr.IsValid() {
		return nil
	}
	if p, err := c.proxy(place); err != nil || !p.URL.IsZero() {
		return nil
	}
	services, err := over.Services(ctx, host, port)
	if err != nil {
		return nil // HTTP/3 is then tried at the address of the URL
	}
	for _, s := range services {
		if s.Host+"." == host { // the address of the URL has a final dot
			s.Host = host
		}
		if s.HTTP3() {
			all = append(all, net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port))))
		}
	}
	return all
}

// useHTTP3 makes the http schemes of spec use the servers in HTTPS records, if
// --doh-url is set.
func (c *OpenClient) useHTTP3(f *Flags, spec *Spec) {
	if f.dns.doh != "" && spec.Schemes.HTTP.HTTP3 != nil {
		spec.Schemes.HTTP.HTTP3 = f.HTTP.selectHTTP3(h3.Options{Discover: c.discoverer(f), HeadStart: f.sockets.headStart()})
	}
}

// useAltSvc makes the http schemes of spec use the servers in the file of
// --alt-svc.
func (c *OpenClient) useAltSvc(f *Flags, object *HTTPObjectFlags, spec *Spec) error {
	if !object.altSvc.enabled {
		return nil
	}
	store := new(altsvc.Store)
	if err := object.altSvc.read(store.Read); err != nil {
		return err
	}
	spec.Schemes.HTTP.HTTP3 = f.HTTP.selectHTTP3(h3.Options{AltSvc: store, Discover: c.discoverer(f), HeadStart: f.sockets.headStart()})
	spec.Innermost = append(spec.Innermost, store.Middleware)
	c.saves = append(c.saves, func() error {
		if !store.Changed() {
			return nil
		}
		return object.altSvc.update(store.Read, store.Write, c.streams.Note)
	})
	return nil
}
