package telnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// The ports of our own from which a server of rlogin takes our word for who we
// are (RFC 1282).
const (
	firstReserved = 512
	lastReserved  = 1023
)

// reservedKey marks the context of a connection that must come from one. Its
// value is told each byte of urgent data, as far as the system shows it.
type reservedKey struct{}

type urgent = func(byte)

// Dial is a fetch.Options.Dial that connects as the system does, but for
// rlogin, which it connects from a reserved port, and in a way that shows when
// the peer wants the size of the window. Where this process may not have such
// a port, the error is of BadPort, and nothing is sent.
func Dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	var d net.Dialer
	heard, ok := ctx.Value(reservedKey{}).(urgent)
	if !ok {
		return d.DialContext(ctx, network, to.String())
	}
	for port := lastReserved; port >= firstReserved; port-- {
		d.LocalAddr = &net.TCPAddr{Port: port}
		c, err := d.DialContext(ctx, network, to.String())
		switch {
		case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
			continue
		case errors.Is(err, syscall.EACCES):
			return nil, errNotReserved()
		}
		if t, ok := c.(*net.TCPConn); ok {
			return withUrgent(t, heard), nil
		}
		return c, err
	}
	return nil, errNotReserved()
}

func errNotReserved() error {
	return fetch.BadPort.With(&fetch.Refusal{Rule: "rlogin needs a port from 512 to 1023 of our own, which this process could not have"})
}

// isReserved refuses a connection from a port that anybody may have: servers
// hang up on it without a word. Through a proxy they see the proxy's.
func isReserved(door net.Conn) error {
	a, ok := door.LocalAddr().(*net.TCPAddr)
	if ok && a.Port >= firstReserved && a.Port <= lastReserved && fetch.PeerOf(door).IsValid() {
		return nil
	}
	return errNotReserved()
}
