// Package datagram lets a driver perform a handshake over the UDP sockets that
// fetch.Net opens. A UDP socket connects without sending a datagram, so that
// only a handshake shows which address of a server answers.
package datagram

import (
	"context"
	"net"
)

// A Handshake opens a connection of a protocol over UDP. It receives a socket
// that is connected to an address that the Policy has allowed. The result owns
// the socket. If the Handshake fails, it closes the socket.
type Handshake = func(ctx context.Context, socket net.Conn) (net.Conn, error)

type key struct{}

type anonymousKey struct{}

// A dial is what [With] stores in a context.
type dial struct {
	own  string
	open Handshake
}

// Anonymous returns a context in which a Handshake must not use client
// certificates.
func Anonymous(ctx context.Context) context.Context {
	return context.WithValue(ctx, anonymousKey{}, true)
}

// IsAnonymous reports whether ctx is the result of [Anonymous].
func IsAnonymous(ctx context.Context) bool { return ctx.Value(anonymousKey{}) != nil }

// With returns a context in which a Net calls open for each UDP socket that it
// connects, and returns the first result without an error. The address own is the
// host and port to which the driver would connect over TCP.
func With(ctx context.Context, own string, open Handshake) context.Context {
	return context.WithValue(ctx, key{}, dial{own, open})
}

// From returns the Handshake that [With] stored in ctx. The result ok is false
// if ctx has none.
func From(ctx context.Context) (open Handshake, ok bool) {
	d, ok := ctx.Value(key{}).(dial)
	return d.open, ok
}

// IsAlternative reports whether ctx has a Handshake, and addr is not the address of
// the server itself. It is then the one of an alternative service, which a server
// supplied.
func IsAlternative(ctx context.Context, addr string) bool {
	d, ok := ctx.Value(key{}).(dial)
	return ok && d.own != addr
}
