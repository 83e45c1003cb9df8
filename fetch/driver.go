package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Driver turns one request into protocol actions.
//
// Do follows no redirect and retries nothing; a challenge answered, a second
// command tried on the same connection and a datagram resent are not retries.
// It must not change req, and must reach the network only through the Net that
// it was opened with. Do is safe for concurrent use.
//
// Do returns as soon as the response begins. The ctx governs the Body too:
// when it ends, reading fails. Where err is nil the Response is not nil, and
// neither is its Body, which the caller closes. That of a Stat is empty: what
// the protocol cannot tell without the object is left out.
type Driver interface {
	Do(ctx context.Context, req *Request) (*Response, error)
}

// DriverFunc makes a function a Driver.
type DriverFunc func(ctx context.Context, req *Request) (*Response, error)

// Do calls f.
func (f DriverFunc) Do(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// Middleware wraps a Driver with behaviour that every scheme shares: retries,
// logs, limits. It is wrapped once around the dispatcher, not once a scheme,
// so what it must know of a scheme it reads from the Request.
type Middleware func(Driver) Driver

// Env is all that a Driver may use of the world.
type Env struct {
	Net   Net              // the one door to the network
	TLS   *tls.Config      // to be cloned; nil is the zero Config
	Now   func() time.Time // never nil
	Login LoginFunc        // nil: no credentials but those of the Request

	// MaxBody is the Policy's. The Client refuses what is larger; a driver
	// that learns a Size before it asks for the body need not ask.
	MaxBody int64

	Done <-chan struct{} // closed by Client.Close: idle sessions end
}

// Net is the door to the network. It enforces the Policy at every connection,
// and fails for a ctx that did not come from a Client's call of Driver.Do.
type Net interface {
	// DialContext connects to addr, host:port, over "tcp" or connected
	// "udp", directly or through the proxy that is configured. An addr that is
	// not the URL's own counts as given by the server.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)

	// Beside opens a second connection to the peer of control, a connection
	// of this Net, at a port that the server chose: ftp's data connections.
	DialPeer(ctx context.Context, control net.Conn, port uint16) (net.Conn, error)

	// ListenBeside listens on the local address of control and accepts
	// control's peer alone: ftp's active mode.
	ListenPeer(ctx context.Context, control net.Conn) (net.Listener, error)

	// Key tells which requests may share a pooled connection. It is part of
	// every pool key: a warm connection is not a way round the Policy.
	Key(ctx context.Context) string

	// Proxy returns the HTTP proxy to which the URL of this request must be
	// given in absolute form, and false where there is none or it is reached
	// by DialContext alone. Only the http driver asks.
	Proxy(ctx context.Context) (ProxyTarget, bool, error)

	// DialProxy connects to the proxy that Proxy returned.
	DialProxy(ctx context.Context) (net.Conn, error)

	// Gateway judges the server of the URL, to which a gateway connects in
	// place of this machine, and returns the target for the request line. As
	// for a proxy, Host may be an address that the Policy resolved. Host is
	// empty where the URL has none.
	Gateway(ctx context.Context) (Target, error)
}

// Via is an HTTP proxy and what it is asked for.
type ProxyTarget struct {
	Proxy  uri.URI   // http or https; userinfo holds its credentials
	Auth   ProxyAuth // how they are proved
	Header Header    // for the proxy alone
	Target Target    // what the request line names: Host may be an address that the Policy resolved
}

// A Step is one protocol action: RETR motd.
type Step struct {
	Verb   string `json:"verb"`
	Arg    string `json:"arg,omitempty"`
	Else   string `json:"else,omitempty"` // the verb that is tried where Verb is refused
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

// Search is a question to an index.
type Search struct {
	Words string    // as the index reads them
	Like  []uri.URI // documents to resemble: relevance feedback
	Max   int       // entries wanted at the most; 0: the server's choice
}
