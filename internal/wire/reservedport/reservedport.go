// Package reservedport lets a driver request connections from a reserved local
// port. These ports are reserved for privileged processes. An rlogin server
// trusts the user name that a client sends from such a port (RFC 1282).
package reservedport

import (
	"context"
	"net"
)

// The range of reserved ports that an rlogin server accepts.
const (
	First = 512
	Last  = 1023
)

// A Wrapper wraps a new connection.
type Wrapper = func(*net.TCPConn) net.Conn

type key struct{}

// With returns a context in which direct connections use a reserved local port.
// The function wrap wraps each connection. If the process may not bind such a
// port, connecting fails with the Fault BadPort before any byte is sent.
func With(ctx context.Context, wrap Wrapper) context.Context {
	return context.WithValue(ctx, key{}, wrap)
}

// From returns the Wrapper that [With] stored in ctx. The result ok is false if
// ctx does not require a reserved port.
func From(ctx context.Context) (wrap Wrapper, ok bool) {
	wrap, ok = ctx.Value(key{}).(Wrapper)
	return wrap, ok
}
