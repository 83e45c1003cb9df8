package capture

import (
	"net/http"
	"net/netip"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A PageSource finds out which document supplied the URLs that a page in a browser
// requests. The documents in its frames, and the servers that redirect its requests,
// can be less trusted than the page. A request that does not show its document
// counts as a link of an unknown public page, unless it is for the server of the
// page. A PageSource is safe for concurrent use.
type PageSource struct {
	page   fetch.Source
	server fetch.Origin // of page, as serverOf returns it

	mu        sync.Mutex
	peers     map[fetch.Origin]netip.Addr // addresses of servers
	redirects map[fetch.Origin]supplier   // servers to which other servers have redirected
	unknown   bool                        // a server has redirected to an unknown server
}

// A supplier is a server that supplied a URL. The zero supplier is an unknown
// public server.
type supplier struct {
	server fetch.Origin
	peer   netip.Addr
}

// maxSuppliers is the maximum number of servers that a PageSource stores.
const maxSuppliers = 10_000

// NewPageSource returns a PageSource for a page. The page has been retrieved from
// the address peer, which is zero if it is unknown.
func NewPageSource(page uri.URI, peer netip.Addr) *PageSource {
	return &PageSource{
		page: fetch.Source{URL: page, Peer: peer}, server: serverOf(page),
		peers: map[fetch.Origin]netip.Addr{}, redirects: map[fetch.Origin]supplier{},
	}
}

// serverOf returns the host and the port of a URL, or the zero Origin if it has no
// valid host.
func serverOf(u uri.URI) fetch.Origin {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	if err != nil || t.Host == "" {
		return fetch.Origin{}
	}
	t.Scheme = ""
	return t.Origin()
}

// Of returns the document that supplied the URL u of a request, for the field From
// of a [Handler].
func (s *PageSource) Of(r *http.Request, u uri.URI) *fetch.Source {
	// The field Origin is "null" after a redirect of another server.
	from, hasOrigin := parseField(r, "Origin")
	if !hasOrigin {
		from, _ = parseField(r, "Referer")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to, document := serverOf(u), supplier{server: serverOf(from)}
	document.peer = s.peers[document.server]
	redirecting, redirected := s.redirects[to]
	switch isPage := document.server == s.server; {
	case to == s.server, isPage && hasOrigin:
		return &s.page
	case redirected:
		return redirecting.source(u)
	case isPage && !s.unknown:
		return &s.page
	case isPage:
		return PublicPage(u)
	}
	return document.source(u)
}

// IsPage reports whether from is the page itself, as Of returns it.
func (s *PageSource) IsPage(from *fetch.Source) bool { return from == &s.page }

// Document returns the document with the URL u as the source of its links. It is
// the page itself if u has the server of the page.
func (s *PageSource) Document(u uri.URI) *fetch.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	server := serverOf(u)
	if server == s.server {
		return &s.page
	}
	return supplier{server, s.peers[server]}.source(u)
}

// Opened returns the source of a URL that a script opened, if it is unknown whether
// this was a script of the page or of a frame. It is the page itself for the server
// of the page, as for a request that does not show its document.
func (s *PageSource) Opened(u uri.URI) *fetch.Source {
	if serverOf(u) == s.server {
		return &s.page
	}
	return PublicPage(u)
}

// parseField parses a header field with the URL of a document.
func parseField(r *http.Request, name string) (u uri.URI, ok bool) {
	u, err := uri.Parse(r.Header.Get(name))
	return u, err == nil && u.Host() != ""
}

// source returns a page of the server as the document that supplied u. The page
// has the scheme of u, because the browser itself blocks unencrypted parts. If the
// address of the server is unknown, source returns a page of an unknown server. A
// proxy would otherwise get the name of the server, and could resolve it to a
// private address.
func (from supplier) source(u uri.URI) *fetch.Source {
	page, err := uri.Parse(u.Scheme() + "://" + fetch.Target{Host: from.server.Host, Port: from.server.Port}.Address() + "/")
	if err != nil || from.server.Host == "" || !from.peer.IsValid() {
		return PublicPage(u)
	}
	return &fetch.Source{URL: page, Peer: from.peer}
}

// Responded records the address of a server and its redirect, for the field
// Responded of a [Handler].
func (s *PageSource) Responded(x *Exchange) {
	resp, from := x.Response, supplier{serverOf(x.Request.URL), x.Response.Peer}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.peers[from.server]; known || len(s.peers) < maxSuppliers {
		s.peers[from.server] = resp.Peer
	}
	if from.server == s.server || resp.Code < 300 || resp.Code > 399 || len(resp.Header.Values("Location")) == 0 {
		return
	}
	to := serverOf(resp.Location)
	old, known := s.redirects[to]
	switch {
	case to == from.server:
	case to == fetch.Origin{}, !known && len(s.redirects) == maxSuppliers: // a browser may read it differently
		s.unknown = true
	case known && old != from:
		s.redirects[to] = supplier{}
	default:
		s.redirects[to] = from
	}
}
