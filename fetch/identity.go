package fetch

import (
	"crypto/tls"
	"sync"
)

// An identity decides which requests may use the client certificates of
// Options.TLS. A certificate contains the name of the user, so that only the
// servers of URLs that the user entered receive it. A nil identity permits
// every request.
type identity struct {
	mu      sync.Mutex
	servers map[string]bool // host and port of the URLs that the user entered
}

// maxServers is the maximum number of servers that an identity remembers. The
// links on the pages of other servers are requested without a certificate.
const maxServers = 100_000

// newIdentity returns nil if there are no client certificates, or if the Policy
// sends credentials to every host.
func newIdentity(o Options) *identity {
	if o.TLS == nil || len(o.TLS.Certificates) == 0 && o.TLS.GetClientCertificate == nil || o.Policy.LocationTrusted {
		return nil
	}
	return &identity{servers: map[string]bool{}}
}

// permits reports whether the request with the grant g may use client
// certificates. It may if the user entered its URL. It also may if the URL comes
// from a page on the same host and port, and the user entered a URL of this server.
// If both URLs have the standard ports, the page may be without TLS. The parameter
// from is the scheme of the page.
func (i *identity) permits(g *grant, from *Scheme) bool {
	if i == nil {
		return true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	page := Target{Host: g.pageOrigin.Host, Port: g.pageOrigin.Port}
	secured := from != nil && from.Name+"s" == g.scheme.Name && page.Host == g.target.Origin().Host &&
		page.Port == from.Port && g.target.Port == g.scheme.Port
	if !g.typed && (!g.isPageServer(g.target) && !secured || !i.servers[page.Address()]) {
		return false
	}
	if o := g.target.Origin(); len(i.servers) < maxServers {
		i.servers[Target{Host: o.Host, Port: o.Port}.Address()] = true
	}
	return true
}

// withoutCertificates returns a copy of config without client certificates, and
// without the sessions of Options.TLS.
func withoutCertificates(config *tls.Config) *tls.Config {
	if config = config.Clone(); config == nil {
		return nil
	}
	config.Certificates, config.GetClientCertificate = nil, nil
	if _, shared := config.ClientSessionCache.(sharedSessions); shared {
		config.ClientSessionCache = nil
	}
	return config
}

// sharedSessions is the cache of TLS sessions in Options.TLS, which all requests
// share. A server remembers the client certificate of a session. The driver of ftp
// has a cache of its own for each server.
type sharedSessions struct{ tls.ClientSessionCache }

// markSessions returns config with its cache of TLS sessions as sharedSessions.
func markSessions(config *tls.Config) *tls.Config {
	if config == nil || config.ClientSessionCache == nil {
		return config
	}
	config = config.Clone()
	config.ClientSessionCache = sharedSessions{config.ClientSessionCache}
	return config
}

// socketOrigins decides which requests use the Unix domain socket of Options.Socket.
// A nil *socketOrigins permits no request.
type socketOrigins struct {
	mu    sync.Mutex
	typed map[Origin]bool // origins of the URLs that the user entered
}

// newSocketOrigins returns nil if there is no socket.
func newSocketOrigins(o Options) *socketOrigins {
	if o.Socket == "" {
		return nil
	}
	return &socketOrigins{typed: map[Origin]bool{}}
}

// permits reports whether the request with the grant g may use the socket. It may
// if the user entered its URL, or if a redirect or a link within the origin of such
// a URL leads to it. After a redirect to another origin and back, it may not,
// because another server chose the URL.
func (s *socketOrigins) permits(g *grant) bool {
	if s == nil || !g.typed && !g.firstParty {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := g.target.Origin()
	if g.typed && len(s.typed) < maxServers {
		s.typed[o] = true
	}
	return g.typed || s.typed[o]
}
