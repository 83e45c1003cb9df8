package mirror

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// meta describes how an item was found. Its encoding is Item.Meta.
type meta struct {
	From        string       `json:"from,omitempty"`  // page or listing with the link to the URL
	Peer        netip.Addr   `json:"peer,omitzero"`   // address of the server that sent From
	FoundBy     string       `json:"by,omitempty"`    // token of the process that found the URL
	Size        *int64       `json:"size,omitempty"`  // from the listing
	Time        time.Time    `json:"time,omitzero"`   // from the listing
	Run         int64        `json:"run,omitempty"`   // run that read the listing
	Requisite   bool         `json:"part,omitempty"`  // a page needs the object for its display
	OutOfReach  int          `json:"extra,omitempty"` // number of consecutive requisites out of reach
	Hops        int          `json:"hops,omitempty"`  // number of consecutive redirects
	Chain       int          `json:"chain,omitempty"` // number of consecutive links between queries of the same path
	SeedTarget  string       `json:"under,omitempty"` // target of a redirected seed, which counts as a seed
	ArticleName string       `json:"name,omitempty"`  // URL of an article by its number: nntp://HOST/GROUP/NUMBER
	SiteInfo    bool         `json:"guide,omitempty"` // robots.txt or a sitemap
	Guessed     bool         `json:"guess,omitempty"` // the object may not exist
	Referenced  bool         `json:"named,omitempty"` // in scope on any host, because a Prospero directory refers to it
	Symlinks    *symlinkPath `json:"ways,omitempty"`  // symbolic links in the path
}

// metaOf decodes the meta of an item. It returns the zero meta for the format
// of another version.
func metaOf(it frontier.Item) (m meta) {
	if json.Unmarshal(it.Meta, &m) != nil {
		return meta{}
	}
	return m
}

func (m meta) encode() []byte {
	text, _ := json.Marshal(m) // the fields of meta can always be encoded
	return text
}

// symlinkPath describes the symbolic links in the path of a file.
type symlinkPath struct {
	At   string   `json:"at"`   // path of the last link
	Real []string `json:"real"` // folders that contain the links, and the target of the last link
}

// metaCache caches the newest decoded meta, because most links of a page share
// one encoding.
type metaCache struct{ newest atomic.Pointer[encodedMeta] }

type encodedMeta struct {
	text []byte
	meta meta
}

// parse returns the meta of an item, like metaOf.
func (m *metaCache) parse(it frontier.Item) meta {
	if s := m.newest.Load(); s != nil && bytes.Equal(s.text, it.Meta) {
		return s.meta
	}
	s := &encodedMeta{it.Meta, metaOf(it)}
	m.newest.Store(s)
	return s.meta
}

// hostOf returns the key of the lease for u: its host, regardless of the scheme
// and the port, because one machine serves them all.
func hostOf(u uri.URI) string {
	if host := strings.ToLower(u.Host()); host != "" {
		return host
	}
	return u.Scheme() + ":"
}

// newItem returns an item for u that was found by visiting via. The parameter
// text is the canonical form of u.
func newItem(u uri.URI, text string, via frontier.Item, meta []byte) frontier.Item {
	return frontier.Item{
		Key: frontier.KeyOf(text), URL: text, Host: hostOf(u),
		Via: via.Key, Depth: via.Depth + 1, Priority: via.Priority, Meta: meta,
	}
}

func originOf(u uri.URI) (fetch.Origin, bool) {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	return t.Origin(), err == nil && t.Host != ""
}

// foundBy returns the URL of the page or listing that linked to it, and the
// time in the listing.
func foundBy(it frontier.Item) (from string, t time.Time) {
	m := metaOf(it)
	return m.From, m.Time
}
