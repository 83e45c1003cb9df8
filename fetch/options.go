package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/uri"
)

// Options configures a Client. With the zero value, a Client is safe for URLs
// from untrusted sources. It connects only to public addresses, uses no proxy
// and does not retry.
type Options struct {
	Policy Policy
	Wrap   []Middleware // middlewares; the first one is the outermost
	Proxy  ProxyFunc    // nil means no proxy
	Login  LoginFunc    // if nil, only URL and Request supply credentials

	// TLS is the configuration of TLS connections; nil means the certificates of
	// the system. Its client certificates are used only for URLs that the user
	// entered, and for redirects and links within their servers.
	TLS *tls.Config

	// RedirectLogin returns the credential for the new origin if a URL that the
	// user entered redirects to another origin. It must not return a default
	// credential, because the server chose the origin. If RedirectLogin is nil
	// or returns nil, the request continues without a credential.
	//
	// RedirectLogin is not called if the redirect changes the protocol, or if
	// it changes the port but not the host. The default ports of a protocol
	// with and without TLS count as the same port. It is not called for a
	// plaintext scheme if an earlier URL used TLS. If the credential is sent in
	// plaintext, the Client reports this as a note to the Trace.
	RedirectLogin func(Origin) *Credential

	// Upgrade replaces the URL of a request or of a redirect before the Policy
	// checks it. For example, it replaces http by https for a host that requires
	// TLS. A Client may call it from several goroutines at the same time. If
	// Upgrade is nil, no URL is replaced.
	Upgrade func(uri.URI) uri.URI

	// Resolver looks up the addresses of host names. The Policy checks each
	// address, whatever Resolver returns. If Resolver is nil, SystemResolver is
	// used.
	Resolver Resolver

	// Route replaces the target of a connection by another host, port or
	// address, like the curl option --connect-to. The Policy treats the new
	// target as an address from the configuration. Proxies and the servers of a
	// Kerberos realm are not replaced. If Route is nil, no target is replaced.
	Route func(Target) Target

	// Dial connects to an IP address that the Policy has allowed. It must
	// return when ctx ends. The Client may call Dial concurrently for the
	// addresses of one host. If Dial is nil, a net.Dialer is used. Tests can
	// use Dial to replace the network.
	Dial func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

	// LocalAddrs are the local addresses of connections, like the curl option
	// --interface. Each connection uses the first address of its family. If
	// LocalAddrs has no such address, the connection fails. If LocalAddrs is nil,
	// the system selects the addresses. If Dial is set, LocalAddrs has no effect.
	LocalAddrs []netip.Addr

	// LocalPorts are the first and the last local port of connections, like the
	// curl option --local-port. Each connection uses the first free port. If no
	// port is free, the connection fails. With the zero value, the system selects
	// the ports. If Dial is set, LocalPorts has no effect.
	LocalPorts [2]uint16

	// AttemptDelay is the delay between attempts to connect to the addresses of
	// one host (RFC 8305). Zero means 250 ms. If it is negative, each attempt
	// starts after the end of the previous one.
	AttemptDelay time.Duration

	// KeepAlive configures the keep-alive messages of TCP connections, also of
	// those to proxies. If Enable is false, none are sent. If KeepAlive is nil,
	// the defaults of net.Dialer are used. If Dial is set, it has no effect.
	KeepAlive *net.KeepAliveConfig

	// Socket is the path of a Unix domain socket, like the curl option
	// --unix-socket. The Client connects to the socket for the URLs that the
	// user entered, and for redirects and links that stay within their origins.
	// The Policy treats all other targets as if a public server had supplied
	// them. If Socket is "", the Client uses only the network.
	Socket string

	Now func() time.Time // nil means time.Now
}

// A LoginFunc finds the credential that a server or proxy requires, for example
// in a netrc file or by prompting the user. It returns nil if it finds no
// credential. A Client may call it from several goroutines at the same time.
type LoginFunc func(ctx context.Context, c Challenge) (*Credential, error)

// A Challenge describes a server or a proxy that requires a credential.
type Challenge struct {
	Origin   Origin
	User     string // the user name of the URL, or ""
	Realm    string // realm that the server sent; escape it before printing
	Typed    bool   // if false, a server supplied the URL, and no default credential may be returned
	Proxy    bool   // a proxy requires the credential
	Rejected bool   // the server rejected the previous credential
}
