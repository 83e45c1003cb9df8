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

// meta is what is known of an item besides its URL: frontier.Item.Meta.
type meta struct {
	From        string       `json:"from,omitempty"`  // the page or listing that led to it
	Peer        netip.Addr   `json:"peer,omitzero"`   // which answered from there
	FoundBy     string       `json:"by,omitempty"`    // the process that found it, by its token
	Size        *int64       `json:"size,omitempty"`  // by the listing
	Time        time.Time    `json:"time,omitzero"`   // by the listing
	Run         int64        `json:"run,omitempty"`   // which read the listing
	Requisite   bool         `json:"part,omitempty"`  // a page needs it to be shown
	OutOfReach  int          `json:"extra,omitempty"` // how many such hops it is off the scope
	Hops        int          `json:"hops,omitempty"`  // redirects in a row that led to it
	SeedTarget  string       `json:"under,omitempty"` // where a seed redirected to: it counts as one
	ArticleName string       `json:"name,omitempty"`  // nntp://HOST/GROUP/NUMBER of an article
	SiteInfo    bool         `json:"guide,omitempty"` // what a site says about itself: robots.txt, sitemaps
	Guessed     bool         `json:"guess,omitempty"` // and nobody says that it is there
	Referenced  bool         `json:"named,omitempty"` // a Prospero directory names it: it is in scope wherever it is
	Symlinks    *symlinkPath `json:"ways,omitempty"`  // the symbolic links on the way to it
}

// metaOf reads the meta of an item.
func metaOf(it frontier.Item) (m meta) {
	if json.Unmarshal(it.Meta, &m) != nil { // it is another version's: nothing depends on it
		return meta{}
	}
	return m
}

func (m meta) encode() []byte {
	text, _ := json.Marshal(m) // of plain fields, which cannot fail
	return text
}

// ways are the symbolic links on the way to a file.
type symlinkPath struct {
	At   string   `json:"at"`   // the path of the last one
	Real []string `json:"real"` // the folders that they led from, and at the end where the last one leads
}

// metas remembers the newest meta: what one page leads to has the same, mostly.
type metaCache struct{ newest atomic.Pointer[encodedMeta] }

type encodedMeta struct {
	text []byte
	meta meta
}

// of is metaOf.
func (m *metaCache) parse(it frontier.Item) meta {
	if s := m.newest.Load(); s != nil && bytes.Equal(s.text, it.Meta) {
		return s.meta
	}
	s := &encodedMeta{it.Meta, metaOf(it)}
	m.newest.Store(s)
	return s.meta
}

// hostOf names whose lease u needs: the host whatever the scheme and the port,
// as one machine serves them all.
func hostOf(u uri.URI) string {
	if host := strings.ToLower(u.Host()); host != "" {
		return host
	}
	return u.Scheme() + ":"
}

// newItem makes an item of u, whose canonical form is text, found by way of via.
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

// foundAt returns the listing or the page that led to it, and the time that the
// listing gave it.
func foundBy(it frontier.Item) (from string, t time.Time) {
	m := metaOf(it)
	return m.From, m.Time
}
