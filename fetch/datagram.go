package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"slices"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
)

// usesConfigured reports whether a handshake over UDP is for a server of the
// configuration, such as the one of s3 URLs. It is, if it is not the host of the
// URL. The bucket in an s3 URL can have the name of the server.
func usesConfigured(ctx context.Context, g *grant) bool {
	own := g.target.Address()
	return datagram.IsAlternative(ctx, own) || slices.Contains(g.scheme.Trust, own)
}

// checkAlternative returns an error if the configuration has a proxy or a route
// for the server own. A server must not lead past them with the alternative
// service t. If the configuration has a route for t too, t is used.
func (d *dialer) checkAlternative(own, t Target) error {
	place, configured := own, false
	if d.route != nil {
		place, configured = d.route(own), d.route(t) != t
	}
	if place != own && !configured {
		return Unsupported.Errorf("an alternative service cannot replace the configured route to %s", own.Address())
	}
	via, err := d.proxyFor(place)
	if err == nil && !via.URL.IsZero() {
		err = Unsupported.Errorf("UDP cannot be used through the proxy for %s", own.Address())
	}
	return err
}

// openDatagram performs a handshake over a UDP socket that is connected to an
// address that the Policy has allowed.
func (d *dialer) openDatagram(ctx context.Context, socket net.Conn, open datagram.Handshake) (net.Conn, error) {
	limit := d.policy.connectTime()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if g := grantOf(ctx); g != nil && g.anonymous {
		within = datagram.Anonymous(within)
	}
	c, err := open(within, socket)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case within.Err() != nil:
		return nil, Timeout.Errorf("no QUIC handshake within %v", limit)
	}
	reportTLSFailure(traceOf(ctx), err)
	return nil, err
}

// reportDatagram reports the TLS parameters of a connection over UDP to t.
func reportDatagram(t *trace.Trace, c net.Conn) {
	secure, ok := c.(interface {
		ConnectionState() tls.ConnectionState
		TLSConfig() *tls.Config
	})
	if ok {
		reportTLS(t, secure.ConnectionState(), secure.TLSConfig())
	}
}
