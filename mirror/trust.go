package mirror

import (
	"net/netip"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/frontier"
	"github.com/anyurl/fetch/uri"
)

// trust knows what this process has seen itself. The database may come from a
// stranger, so its statements about the source of a URL grant nothing.
type trust struct {
	typed   map[frontier.Key]bool // the seeds of this command
	servers map[fetch.Origin]bool // of these seeds, whatever the scheme: of nntp and news it is one
	schemes map[string]bool       // of seeds without a server: file, mid, news:
	heard   sync.Map              // answers of this process: every answered as a key
}

// answered is a server, and the address that answered for it; zero: unknown.
type answered struct {
	origin fetch.Origin
	peer   netip.Addr
}

func newTrust() *trust {
	return &trust{typed: map[frontier.Key]bool{}, servers: map[fetch.Origin]bool{}, schemes: map[string]bool{}}
}

// serverAt returns o without its scheme.
func serverAt(o fetch.Origin) fetch.Origin {
	o.Scheme = ""
	return o
}

// admit makes u, whose item has the key k, a URL that a person typed.
func (t *trust) admit(u uri.URI, k frontier.Key) {
	t.typed[k] = true
	if origin, sited := originOf(u); sited {
		t.servers[serverAt(origin)] = true
	} else {
		t.schemes[u.Scheme()] = true
	}
}

// hear notes that resp answered for v.
func (t *trust) hear(v *visit, resp *fetch.Response) {
	t.heard.Store(answered{v.origin, resp.Peer}, true)
}

// source returns the page that led to v, nil for a URL that counts as typed. A
// page that this process has not fetched counts as a public page of another
// server, unless this command names the server of v.
func (t *trust) source(v *visit) *fetch.Source {
	from, err := uri.Parse(v.meta.From)
	if v.meta.From == "" || err != nil {
		from = v.url
	}
	origin, sited := originOf(from)
	known := t.schemes[from.Scheme()]
	if sited {
		_, known = t.heard.Load(answered{origin, v.meta.Peer})
	}
	switch {
	case t.typed[v.item.Key]:
		return nil
	case known:
		return &fetch.Source{URL: from, Peer: v.meta.Peer}
	case v.sited && t.servers[serverAt(v.origin)]:
		return nil
	}
	return &fetch.Source{URL: stranger(from)}
}

// stranger returns the URL of an unknown page of the scheme of u.
func stranger(u uri.URI) uri.URI {
	scheme := u.Scheme()
	if _, sited := originOf(u); !sited {
		scheme = "http" // which leads to no file and to no mailbox
	}
	return uri.MustParse(scheme + "://stranger.invalid/")
}
