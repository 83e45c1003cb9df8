package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"
)

// Options are what a Client is made with. The zero value is safe with hostile
// URLs: it reaches public addresses only, directly, and retries nothing.
type Options struct {
	Policy Policy
	Wrap   []Middleware // the first is the outermost
	Proxy  ProxyFunc    // nil: no proxy
	Login  LoginFunc    // nil: only the credentials of URL and Request
	TLS    *tls.Config  // nil: the system's roots

	// RedirectLogin finds the credential for another origin that a redirect of
	// a typed URL leads to. No default may answer, because a server named the
	// origin. It is not called for a plaintext scheme once a URL of the chain
	// was under TLS, for another protocol, or for another port of the typed
	// host. Default ports of one protocol with and without TLS count as one
	// port. A note tells of a credential for a plaintext scheme. Nil: such an
	// origin gets no credential.
	RedirectLogin func(Origin) *Credential

	Resolver Resolver // nil: SystemResolver

	// Route leads a target to another place: another host, port or address
	// than its URL has. It is the configuration's word, so the place is judged
	// as one that the configuration named. Nil leads nowhere else.
	Route func(Target) Target

	// Dial makes a connection to an address that the Policy has judged, and
	// ends with ctx. Several calls may race for one host. Nil is the system's.
	// Tests record here.
	Dial func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

	Now func() time.Time // nil: time.Now
}

// LoginFunc finds the credential for a challenge: from netrc, or by asking. It
// returns nil where there is none.
type LoginFunc func(ctx context.Context, c Challenge) (*Credential, error)

// A Challenge is somebody's demand for a credential.
type Challenge struct {
	Origin   Origin
	User     string // the name that the URL gave, or ""
	Realm    string // as the server calls it, unsafe to print raw
	Typed    bool   // false: a server led here, and no default may answer
	Proxy    bool   // a proxy asks
	Rejected bool   // the last answer was refused
}
