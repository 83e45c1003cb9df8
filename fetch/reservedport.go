package fetch

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// The reserved local ports. A server of rlogin trusts the user name of a client
// that connects from one (RFC 1282). Binding one needs a privilege.
const (
	FirstReservedPort = 512
	LastReservedPort  = 1023
)

// reservedKey marks the ctx of a connection from a reserved port.
type reservedKey struct{}

// WithReservedPort returns a ctx whose direct connections use a reserved local
// port. Shape wraps each of them. If the process cannot bind such a port, the
// connection fails with BadPort before any byte is sent.
func WithReservedPort(ctx context.Context, shape func(*net.TCPConn) net.Conn) context.Context {
	return context.WithValue(ctx, reservedKey{}, shape)
}

// dialReserved dials from the first reserved port that is free.
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
