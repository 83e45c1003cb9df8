// Package proxy establishes connections through HTTP and SOCKS proxies. It
// implements the client side of HTTP CONNECT (RFC 9110 9.3.6), SOCKS4, SOCKS4a
// and SOCKS5 (RFC 1928, RFC 1929). [Connect] performs the handshake on a
// connection that the caller has opened. [ParseEnv] parses the proxy settings
// from environment variables. The package opens no connections and resolves no
// names.
//
// The package does not use golang.org/x/net/proxy for SOCKS5, because the
// errors of that package do not contain the reply code.
package proxy

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

// Options holds the credentials and header fields for [Connect]. The zero value
// sends no credentials.
type Options struct {
	Login httpauth.Login
	Auth  httpauth.Method // for an HTTP proxy

	// Challenges are the challenges of an AuthRequiredError whose Redial is
	// true. The first request contains credentials for one of them.
	Challenges []httpauth.Challenge

	Agent  string  // User-Agent for an HTTP proxy, or "" to omit the field
	Header []Field // additional fields for an HTTP proxy

	// Sent is called with the head of each request to an HTTP proxy, and
	// Received with the head of each response. They may be nil.
	Sent, Received func(head string)
}

// A Field is a header field of a CONNECT request or its response.
type Field struct{ Name, Value string }

// Resolves reports whether a proxy with the given URL scheme resolves host
// names. It returns false for socks4 and socks5, which require an IP address as
// the target of [Connect]. The schemes are the same as in curl: http, https,
// socks4, socks4a, socks5 and socks5h.
func Resolves(scheme string) bool { return scheme != "socks4" && scheme != "socks5" }

// Connect establishes a tunnel to target through a proxy. The caller has
// connected conn to the proxy. For the proxy scheme https, conn must be a TLS
// connection. The target is a host and port such as "example.org:70" or
// "[2001:db8::1]:70". After Connect returns nil, conn carries the data of the
// tunnel. Connect does not read bytes after the handshake.
//
// If ctx is canceled, Connect returns the cause of ctx. After an error the
// caller must close conn. The error is a [RefusedError] or an
// [AuthRequiredError], wraps [ErrMalformed], [ErrTooLong], [ErrClosed],
// [ErrTarget] or [ErrOption], or is an error of conn.
func Connect(ctx context.Context, conn net.Conn, scheme, target string, opts Options) error {
	t, err := parseTarget(target)
	if err != nil {
		return err
	}
	if !Resolves(scheme) && !t.addr.IsValid() {
		return fmt.Errorf("%w: a %s proxy requires an address", ErrTarget, scheme)
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
		return fmt.Errorf("%w: unknown scheme", ErrOption)
	}
	return interruptible(ctx, conn, func() error { return handshake(conn, t, opts) })
}

// interruptible calls f. If ctx is canceled, it interrupts reads and writes on
// conn and returns the cause of ctx.
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

// A destination is the parsed target of a tunnel. Either name or addr is set.
type destination struct {
	name string
	addr netip.Addr
	port uint16
}

// String returns the host and port, with brackets around an IPv6 address.
func (d destination) String() string {
	host := d.name
	if d.addr.IsValid() {
		host = d.addr.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(d.port)))
}

// parseTarget parses the host and port of a target. It rejects a host that
// contains a character with a special meaning in HTTP or SOCKS.
func parseTarget(target string) (d destination, err error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return d, fmt.Errorf("%w: not HOST:PORT", ErrTarget)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '+' {
		return d, fmt.Errorf("%w: invalid port", ErrTarget)
	}
	d.port = uint16(n)
	addr, err := netip.ParseAddr(host)
	switch bracketed := target[0] == '['; {
	case addr.Zone() != "":
		return d, fmt.Errorf("%w: address has a zone", ErrTarget)
	case bracketed && !addr.Is6():
		return d, fmt.Errorf("%w: brackets require an IPv6 address", ErrTarget)
	case err == nil:
		d.addr = addr.Unmap()
		return d, nil
	}
	if host == "" || len(host) > 255 || strings.ContainsFunc(host, invalidInName) {
		return d, fmt.Errorf("%w: invalid host name", ErrTarget)
	}
	d.name = host
	return d, nil
}

func invalidInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._", r))
}
