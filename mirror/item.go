package mirror

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// meta describes how the URL of an item was found. Item.Meta contains its JSON
// encoding, and the code of trust.seal if a process found the URL.
type meta struct {
	From        string        `json:"from,omitempty"`   // URL of the page or listing that contains the link
	Peer        netip.Addr    `json:"peer,omitzero"`    // address of the server that sent From
	Found       bool          `json:"-"`                // if true, this process found the URL, as the authentication code shows
	Size        *int64        `json:"size,omitempty"`   // size in bytes in the listing
	Time        time.Time     `json:"time,omitzero"`    // modification time in the listing
	Run         int64         `json:"run,omitempty"`    // number of the run that read the listing
	Requisite   bool          `json:"part,omitempty"`   // if true, a page needs the object for its display, such as an image
	OutOfReach  int           `json:"extra,omitempty"`  // number of consecutive requisites outside Scope.Reach
	Hops        int           `json:"hops,omitempty"`   // number of consecutive redirects
	Chain       int           `json:"chain,omitempty"`  // number of consecutive links between queries of the same path
	SeedTarget  string        `json:"under,omitempty"`  // target of the redirect of a seed; the target counts as a seed
	ArticleName string        `json:"name,omitempty"`   // URL of an article in the form nntp://HOST/GROUP/NUMBER
	SiteInfo    bool          `json:"guide,omitempty"`  // if true, the URL is a robots.txt or a sitemap
	Guessed     bool          `json:"guess,omitempty"`  // if true, the URL was guessed, so its object may not exist
	Referenced  bool          `json:"named,omitempty"`  // if true, the URL is in scope on every host, because a Prospero directory refers to it
	Target      string        `json:"to,omitempty"`     // target of the last response, if it was a redirect
	Robots      *robotsResult `json:"robots,omitempty"` // last response, if the URL is a robots.txt
	Symlinks    *symlinkPath  `json:"ways,omitempty"`   // symbolic links in the path
}

// metaOf decodes the field Meta of an item, without its authentication code. It
// returns the zero meta if another version of this program encoded the meta in
// another format.
func metaOf(it frontier.Item) (m meta) {
	text, _, _ := bytes.Cut(it.Meta, []byte{'\n'})
	if json.Unmarshal(text, &m) != nil {
		return meta{}
	}
	return m
}

// A metaCache remembers the newest decoded meta, because the links of a page
// have the same meta, and their items are visited one after another. It is safe
// for concurrent use.
type metaCache struct{ newest atomic.Pointer[encodedMeta] }

// metaOf is like the function metaOf. The caller must not change the values to
// which the result points.
func (c *metaCache) metaOf(it frontier.Item) meta {
	text, _, _ := bytes.Cut(it.Meta, []byte{'\n'})
	if n := c.newest.Load(); n != nil && bytes.Equal(n.text, text) {
		return n.meta
	}
	m := metaOf(it)
	c.newest.Store(&encodedMeta{bytes.Clone(text), m})
	return m
}

func (m meta) encode() []byte {
	text, _ := json.Marshal(m) // never returns an error for these fields
	return text
}

// symlinkPath describes the symbolic links in the path of a file.
type symlinkPath struct {
	At   string   `json:"at"`   // path of the last symbolic link
	Real []string `json:"real"` // directories that contain the symbolic links, and the target of the last one
}

// hostOf returns the host of u, which is the key for leases. All schemes and
// ports of a host share one lease, because they usually belong to one machine.
func hostOf(u uri.URI) string {
	if host := strings.TrimSuffix(strings.ToLower(u.Host()), "."); host != "" {
		return host
	}
	return u.Scheme() + ":"
}

// newItem returns an item for the URL u. The parameter via is the item whose
// visit found u. The parameter text is the canonical form of u, and key is the
// key of u. The item does not inherit that via was deferred.
func newItem(u uri.URI, text string, key frontier.Key, via frontier.Item, meta []byte) frontier.Item {
	if strings.Contains(u.Host(), "%") { // the canonical form has another host, such as a for %61
		if canonical, err := uri.Parse(text); err == nil {
			u = canonical
		}
	}
	return frontier.Item{
		Key: key, URL: text, Host: hostOf(u),
		Via: via.Key, Depth: via.Depth + 1, Priority: min(via.Priority, 0), Meta: meta,
	}
}

// originOf returns the origin of u, or the zero Origin and false if u has none.
func originOf(u uri.URI) (fetch.Origin, bool) {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	if err != nil || t.Host == "" {
		return fetch.Origin{}, false
	}
	return t.Origin(), true
}

// targetOf returns the target of the redirect of an item with the given encoded
// meta, or "" if the last response was no redirect.
func targetOf(encoded []byte) string { return metaOf(frontier.Item{Meta: encoded}).Target }

// foundBy returns the URL of the page or listing that links to the item, and
// the modification time of the item in the listing.
func foundBy(it frontier.Item) (from string, t time.Time) {
	m := metaOf(it)
	return m.From, m.Time
}
