// Package proxy asks proxies for connections: HTTP CONNECT (RFC 9110 9.3.6),
// SOCKS4, SOCKS4a and SOCKS5 (RFC 1928, RFC 1929). It dials nothing and
// resolves nothing: [Connect] speaks over a connection to the proxy that the
// caller made. [ParseEnv] reads which proxy the environment names for a URL.
//
// SOCKS5 is written here although golang.org/x/net/proxy has it: there the
// reply of the proxy survives only as words in an error.
package proxy

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/httpauth"
)

// Options says how to ask. The zero value asks without credentials.
type Options struct {
	Login httpauth.Login
	Auth  httpauth.Method // for an HTTP proxy

	// Challenges are those of an AuthRequired with Redial: they are answered
	// at once.
	Challenges []httpauth.Challenge

	Agent  string // User-Agent for an HTTP proxy; empty: none is sent
	Header []Field
}

// A Field is a header field for an HTTP proxy alone.
type Field struct{ Name, Value string }

// Resolves reports whether a proxy of that scheme takes names: for socks4 and
// socks5 the target of Connect must be an address. Schemes are those of curl:
// http, https, socks4, socks4a, socks5, socks5h.
func Resolves(scheme string) bool { return scheme != "socks4" && scheme != "socks5" }

// Connect asks the proxy at the other end of conn for a connection to target,
// a host and port as in "example.org:70" or "[2001:db8::1]:70". For a proxy of
// scheme https conn is the TLS connection to it. Afterwards conn leads to
// target: no byte beyond the handshake has been read.
//
// The end of ctx ends the handshake and its cause is the error. After any
// error conn is of no use and the caller closes it; the errors are [Refused],
// [AuthRequired], [ErrMalformed], [ErrTooLong], [ErrClosed], [ErrTarget],
// [ErrOption] and those of conn.
func Connect(ctx context.Context, conn net.Conn, scheme, target string, opts Options) error {
	t, err := parseTarget(target)
	if err != nil {
		return err
	}
	if !Resolves(scheme) && !t.addr.IsValid() {
		return fmt.Errorf("%w: a %s proxy takes addresses alone", ErrTarget, scheme)
	}
	var handshake func(net.Conn, destination, Options) error
	switch scheme {
	case "http", "https":
		handshake = connectHTTP
	case "socks4", "socks4a":
		handshake = connectSOCKS4
	case "socks5", "socks5h":
		handshake = connectSOCKS5
	default:
		return fmt.Errorf("%w: scheme", ErrOption)
	}
	return interruptible(ctx, conn, func() error { return handshake(conn, t, opts) })
}

// within lets the end of ctx interrupt what f does on conn.
func interruptible(ctx context.Context, conn net.Conn, f func() error) error {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	err := f()
	if !stop() {
		<-interrupted
		return context.Cause(ctx)
	}
	return err
}

// A destination is the target, read: a name or, if valid, an address.
type destination struct {
	name string
	addr netip.Addr
	port uint16
}

// String returns host:port with the brackets of an IPv6 address.
func (d destination) String() string {
	host := d.name
	if d.addr.IsValid() {
		host = d.addr.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(d.port)))
}

// parseTarget lets nothing through that means more than a host and a port in
// any of the protocols.
func parseTarget(target string) (d destination, err error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return d, fmt.Errorf("%w: not HOST:PORT", ErrTarget)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '+' {
		return d, fmt.Errorf("%w: port", ErrTarget)
	}
	d.port = uint16(n)
	addr, err := netip.ParseAddr(host)
	switch bracketed := target[0] == '['; {
	case addr.Zone() != "":
		return d, fmt.Errorf("%w: a zone means nothing to a proxy", ErrTarget)
	case bracketed && !addr.Is6():
		return d, fmt.Errorf("%w: not an address", ErrTarget)
	case err == nil:
		d.addr = addr.Unmap()
		return d, nil
	}
	if host == "" || len(host) > 255 || strings.ContainsFunc(host, invalidInName) {
		return d, fmt.Errorf("%w: name", ErrTarget)
	}
	d.name = host
	return d, nil
}

func invalidInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._", r))
}
