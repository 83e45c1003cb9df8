package fetch

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// These local ports are reserved for privileged processes. An rlogin server
// trusts the user name that a client sends from such a port (RFC 1282).
const (
	FirstReservedPort = 512
	LastReservedPort  = 1023
)

// reservedKey is the context key that WithReservedPort sets.
type reservedKey struct{}

// WithReservedPort returns a context for direct connections from a reserved
// local port. The function shape wraps each connection. If the process may not
// bind such a port, connecting fails with the Fault BadPort before any byte is
// sent.
func WithReservedPort(ctx context.Context, shape func(*net.TCPConn) net.Conn) context.Context {
	return context.WithValue(ctx, reservedKey{}, shape)
}

// dialReserved connects to an address from the first reserved local port that
// is free.
func dialReserved(
	ctx context.Context, d net.Dialer, network, to string, shape func(*net.TCPConn) net.Conn,
) (net.Conn, error) {
	for port := LastReservedPort; port >= FirstReservedPort; port-- {
		d.LocalAddr = &net.TCPAddr{Port: port}
		c, err := d.DialContext(ctx, network, to)
		switch {
		case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
			continue
		case errors.Is(err, syscall.EACCES):
			return nil, errNotReserved()
		}
		if t, ok := c.(*net.TCPConn); ok {
			return shape(t), nil
		}
		return c, err
	}
	return nil, errNotReserved()
}

func errNotReserved() error {
	return BadPort.With(&Refusal{Rule: "the server requires a local port from 512 to 1023, which this process cannot bind"})
}
