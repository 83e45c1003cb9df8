package fetch

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
)

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
