package fetch

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// The ports of our own from which a server of rlogin takes our word for who we
// are (RFC 1282). A process needs leave for them.
const (
	FirstReservedPort = 512
	LastReservedPort  = 1023
)

// reservedKey marks the ctx of a connection that must come from one.
type reservedKey struct{}

// Reserved returns a ctx whose direct connections come from a reserved port,
// and are what shape makes of them. Where this process may not have such a
// port they fail with BadPort, and nothing is sent.
func WithReservedPort(ctx context.Context, shape func(*net.TCPConn) net.Conn) context.Context {
	return context.WithValue(ctx, reservedKey{}, shape)
}

// dialReserved dials from the first reserved port that is free.
func dialReserved(ctx context.Context, d net.Dialer, network, to string, shape func(*net.TCPConn) net.Conn) (net.Conn, error) {
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
	return BadPort.With(&Refusal{Rule: "the server wants a port of ours from 512 to 1023, which this process could not have"})
}
