package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"
)

// Options configure a Client. The zero value is safe for URLs from untrusted
// sources: the Client connects only to public addresses, uses no proxy and does
// not retry.
type Options struct {
	Policy Policy
	Wrap   []Middleware // the first one is the outermost
	Proxy  ProxyFunc    // nil means no proxy
	Login  LoginFunc    // if nil, only URL and Request supply credentials
	TLS    *tls.Config  // nil means the certificates of the system

	// RedirectLogin returns the credential for another origin to which a
	// redirect of a typed URL leads. It must not return a default credential,
	// because a server named the origin. If it is nil or returns nil, the
	// request continues without a credential.
	//
	// RedirectLogin is not called if the redirect leads to another protocol,
	// or to another port of the typed host. The default ports of a protocol
	// with and without TLS count as the same port. It is not called for a
	// plaintext scheme after a URL of the chain used TLS. A note reports a
	// credential that is sent in plaintext.
	RedirectLogin func(Origin) *Credential

	Resolver Resolver // nil means SystemResolver

	// Route replaces the target of a connection by another host, port or
	// address. The Policy checks the result as a configured target, not as the
	// target of the URL. Nil changes no target.
	Route func(Target) Target

	// Dial connects to an address that the Policy has allowed. It must return
	// when ctx ends. Calls for the addresses of one host are concurrent. Nil
	// means a net.Dialer. Tests can replace the network by it.
	Dial func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

	Now func() time.Time // nil means time.Now
}

// A LoginFunc returns the credential for a challenge, for example from a netrc
// file or from the user. It returns nil if it finds no credential.
type LoginFunc func(ctx context.Context, c Challenge) (*Credential, error)

// A Challenge describes a server or a proxy that requires a credential.
type Challenge struct {
	Origin   Origin
	User     string // the user name of the URL, or ""
	Realm    string // text of the server; escape it before printing
	Typed    bool   // if false, a server supplied the URL, and no default credential may be returned
	Proxy    bool   // a proxy requires the credential
	Rejected bool   // the server rejected the previous credential
}
