package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Driver carries out one request by the actions of a protocol.
//
// Do follows no redirects and does not retry. It may answer an authentication
// challenge, try a second command on the same connection, and resend a
// datagram. Do must not change req. It must reach the network only through the
// Net that the driver was opened with. Do is safe for concurrent use.
//
// Do returns as soon as the response begins. The end of ctx also ends reading
// from the Body. If the error is nil, the Response and its Body are not nil,
// and the caller closes the Body. The Body of a Stat is empty. A field of the
// Response is zero if the protocol cannot report it without the object.
type Driver interface {
	Do(ctx context.Context, req *Request) (*Response, error)
}

// DriverFunc is a function that implements Driver.
type DriverFunc func(ctx context.Context, req *Request) (*Response, error)

// Do calls f.
func (f DriverFunc) Do(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// A Middleware wraps a Driver with behavior for all schemes, such as retries,
// logs or limits. A Client applies it once, around the dispatch to the schemes.
// A middleware reads the properties of the scheme by [Request.Scheme].
type Middleware func(Driver) Driver

// An Env has the resources that a Driver may use.
type Env struct {
	Net   Net              // the only access to the network
	TLS   *tls.Config      // the driver clones it; nil means the zero Config
	Now   func() time.Time // never nil
	Login LoginFunc        // finds credentials; nil if only the Request can have one

	// MaxBody is Policy.MaxBody. The Client rejects larger bodies. A driver
	// that learns the size early can skip the transfer of a larger body.
	MaxBody int64

	Done <-chan struct{} // closed by Client.Close; the driver then closes idle connections
}

// Net gives drivers access to the network. It enforces the Policy on every
// connection. Its methods fail if ctx is not derived from the ctx of Driver.Do.
type Net interface {
	// DialContext connects to addr, which has the form host:port, directly or
	// through the configured proxy. Network is "tcp", or "udp" for a connected
	// socket. If addr is not the host of the URL, it is checked like an address
	// that the server supplied.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)

	// DialPeer opens a second connection to the peer of control, at a port
	// that the server chose. Control is a connection of this Net. The ftp
	// driver opens its data connections this way.
	DialPeer(ctx context.Context, control net.Conn, port uint16) (net.Conn, error)

	// ListenPeer listens on the local address of control and accepts only
	// connections from the peer of control. The ftp driver uses it in active
	// mode.
	ListenPeer(ctx context.Context, control net.Conn) (net.Listener, error)

	// Key returns a string that every key of a connection pool must contain.
	// Requests with different keys must not share connections, because the
	// Policy may deny the connection to one of them.
	Key(ctx context.Context) string

	// Proxy returns the HTTP proxy that needs the URL of this request in
	// absolute form. It returns false if there is no such proxy, or if
	// DialContext handles it. Only the http driver calls Proxy.
	Proxy(ctx context.Context) (ProxyTarget, bool, error)

	// DialProxy connects to the proxy that Proxy returned.
	DialProxy(ctx context.Context) (net.Conn, error)

	// Gateway checks the server of the URL, to which a gateway connects
	// instead of this machine. It returns the target for the request line. Its
	// Host may be an address that the Policy resolved, and is empty if the URL
	// has no host.
	Gateway(ctx context.Context) (Target, error)
}

// A ProxyTarget is an HTTP proxy and the target of a request to it.
type ProxyTarget struct {
	Proxy  uri.URI   // http or https; userinfo holds its credentials
	Auth   ProxyAuth // how to authenticate to the proxy
	Header Header    // header fields that only the proxy receives
	Target Target    // host of the request line, possibly as an address that the Policy resolved
}

// A Step is one action of a protocol, such as "RETR motd".
type Step struct {
	Verb   string `json:"verb"`
	Arg    string `json:"arg,omitempty"`
	Else   string `json:"else,omitempty"` // the verb to try if the server rejects Verb
	Secret bool   `json:"secret,omitempty"`
}

// String returns the step on one line, with secrets masked as by [uri.Redact].
func (s Step) String() string {
	line := s.Verb
	switch {
	case s.Secret:
		line += " ***"
	case s.Arg != "":
		line += " " + uri.Redact(s.Arg)
	}
	if s.Else != "" {
		line += " (else " + s.Else + ")"
	}
	return line
}

// A Search is a query for an index.
type Search struct {
	Words string    // in the syntax of the index
	Like  []uri.URI // find documents similar to these (relevance feedback)
	Max   int       // maximum number of entries; 0 means the server's default
}
