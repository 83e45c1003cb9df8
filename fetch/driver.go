package fetch

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Driver carries out single requests over one protocol, such as FTP.
//
// Do returns as soon as the response begins. It follows no redirects and does
// not retry. It may answer an authentication challenge, try a second command on
// the same connection, and resend a datagram. Do must not change req. It must
// use the network only through the Net that was passed to Scheme.Open. Do is
// safe for concurrent use.
//
// If the error is nil, the Response and its Body are not nil. The caller closes
// the Body. If ctx ends, reading from the Body also fails. The Body of a Stat
// request is empty. A field of the Response is zero if the protocol cannot
// report it without transferring the object.
//
// A driver that cannot select the Range of a request sends the complete object.
// Its Size is then -1 if Range.End is not 0, because the Client compares the body
// with the selected bytes.
type Driver interface {
	Do(ctx context.Context, req *Request) (*Response, error)
}

// DriverFunc is an adapter that allows a function to be used as a [Driver].
type DriverFunc func(ctx context.Context, req *Request) (*Response, error)

// Do calls f.
func (f DriverFunc) Do(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// A Middleware wraps a Driver and adds behavior for all schemes, such as
// retries, logs or limits. A Client calls each Middleware when the Client is
// created, not for each request. The Driver that a Middleware returns can read
// the properties of the scheme from [Request.Scheme].
type Middleware func(Driver) Driver

// An Env contains the resources that a Driver may use, such as the network.
type Env struct {
	Net   Net              // the only access to the network
	TLS   *tls.Config      // the driver clones it; nil means the zero Config
	Now   func() time.Time // never nil
	Login LoginFunc        // finds credentials; nil if only Request.Auth supplies credentials

	// MaxBody is Policy.MaxBody, the maximum size of a body in bytes. The
	// Client enforces it. A driver may use it to skip the transfer of a larger
	// body.
	MaxBody int64

	// Idle is the maximum time without a byte, from Policy.Idle; 0 means no
	// limit. The Client enforces it for each connection and each body. A driver
	// needs it for the other waits on connections that several requests share.
	Idle time.Duration

	// Limit returns body with the limits Policy.MinRate and Policy.Idle. A
	// driver calls it before it reads from a body itself, because the Client
	// limits only the bodies that a driver returns. Limit is never nil.
	Limit func(body io.ReadCloser) io.ReadCloser

	Done <-chan struct{} // closed by Client.Close; the driver then closes idle connections
}

// Net gives drivers access to the network and enforces the Policy on every
// connection. Its methods fail if ctx is not derived from the context that the
// Client passed to Driver.Do.
type Net interface {
	// DialContext connects to addr, a host and port separated by a colon,
	// directly or through the configured proxy. The network is "tcp", or "udp"
	// for a connected socket. The network "udp-any" is a UDP socket that
	// accepts the first reply from any port of the server, and then only
	// replies from this port. A host other than the host of the URL must be
	// permitted by the Policy.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)

	// DialPeer opens another connection to the server of a control connection,
	// at the given port. This Net must have opened the control connection. The
	// ftp driver opens its data connections with DialPeer. Ports below 1024 must
	// be listed in the field Ports.Peer of the Scheme.
	DialPeer(ctx context.Context, control net.Conn, port uint16) (net.Conn, error)

	// ListenPeer listens on the local address of the connection control. It
	// accepts only connections from the server at the other end of control. The
	// ftp driver uses ListenPeer for active mode.
	ListenPeer(ctx context.Context, control net.Conn) (net.Listener, error)

	// Key returns a string that every key of a connection pool must contain.
	// Requests with different keys must not share a connection unless Permits
	// allows it, because the Policy may allow the connection for only one of
	// them.
	Key(ctx context.Context) string

	// Permits reports whether the Policy would let the request open the
	// connection c, which another request has opened through this Net. Permits
	// may return false although the Policy allows the connection.
	Permits(ctx context.Context, c net.Conn) bool

	// Proxy returns the HTTP proxy to which the driver must send the request
	// with its URL in absolute form. It also returns the server for the request
	// line. Proxy returns the zero Proxy if there is no such proxy, or if
	// DialContext connects through the proxy. Only the http driver calls Proxy.
	Proxy(ctx context.Context) (Proxy, Target, error)

	// DialProxy connects to the HTTP proxy that the method Proxy returns.
	DialProxy(ctx context.Context) (net.Conn, error)

	// Gateway checks the server of the URL against the Policy. A driver calls
	// it if it sends the request through a gateway. Gateway returns the target
	// for the request line. The Host of the target may be an address that
	// Gateway resolved. The Host is empty if the URL has no host.
	Gateway(ctx context.Context) (Target, error)
}

// A Search is a query for a searchable index.
type Search struct {
	Words string    // search words, in the syntax of the index
	Like  []uri.URI // find documents similar to these (relevance feedback)
	Max   int       // maximum number of entries; 0 means the server's default
}
