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
	From  string     `json:"from,omitempty"`  // the page or listing that led to it
	Peer  netip.Addr `json:"peer,omitzero"`   // which answered from there
	By    string     `json:"by,omitempty"`    // the process that found it, by its token
	Size  *int64     `json:"size,omitempty"`  // by the listing
	Time  time.Time  `json:"time,omitzero"`   // by the listing
	Run   int64      `json:"run,omitempty"`   // which read the listing
	Part  bool       `json:"part,omitempty"`  // a page needs it to be shown
	Extra int        `json:"extra,omitempty"` // how many such hops it is off the scope
	Hops  int        `json:"hops,omitempty"`  // redirects in a row that led to it
	Under string     `json:"under,omitempty"` // where a seed redirected to: it counts as one
	Name  string     `json:"name,omitempty"`  // nntp://HOST/GROUP/NUMBER of an article
	Guide bool       `json:"guide,omitempty"` // what a site says about itself: robots.txt, sitemaps
	Guess bool       `json:"guess,omitempty"` // and nobody says that it is there
	Named bool       `json:"named,omitempty"` // a Prospero directory names it: it is in scope wherever it is
	Ways  *ways      `json:"ways,omitempty"`  // the symbolic links on the way to it
}

func metaOf(it frontier.Item) (m meta) {
	if json.Unmarshal(it.Meta, &m) != nil { // it is another version's: nothing depends on it
		return meta{}
	}
	return m
}

func (m meta) text() []byte {
	text, _ := json.Marshal(m) // of plain fields, which cannot fail
	return text
}

// metas remembers the newest meta: what one page leads to has the same, mostly.
type metas struct{ newest atomic.Pointer[encoded] }

type encoded struct {
	text []byte
	meta meta
}

// of is metaOf.
func (m *metas) of(it frontier.Item) meta {
	if s := m.newest.Load(); s != nil && bytes.Equal(s.text, it.Meta) {
		return s.meta
	}
	s := &encoded{it.Meta, metaOf(it)}
	m.newest.Store(s)
	return s.meta
}

// canonical is the form of u by which it is one with others: normalised,
// without a fragment, and without userinfo, which is nobody's business.
func canonical(u uri.URI) string {
	return u.WithoutUserinfo().WithoutFragment().Normalize(uri.ByScheme).Unredacted()
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

// seed makes the item of a URL that a person typed, whose credential counts
// for all of its origin.
func (m *mirror) seed(u uri.URI) frontier.Item {
	it := newItem(u, canonical(u), frontier.Item{Depth: -1}, meta{}.text())
	m.trust.admit(u, it.Key)
	c, err := m.Client.Credential(u)
	if err != nil || c == nil {
		return it
	}
	if origin, ok := originOf(u); ok {
		m.auth[origin] = c
	}
	return it
}

func originOf(u uri.URI) (fetch.Origin, bool) {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	return t.Origin(), err == nil && t.Host != ""
}

// request asks for what v names.
func (m *mirror) request(v *visit) *fetch.Request {
	req := &fetch.Request{URL: v.url, NoFollow: true, ErrorBody: true}
	if v.sited {
		req.Auth = m.auth[v.origin]
	}
	req.From = m.trust.source(v)
	// A mailbox that a person typed with a password is meant with its
	// messages: our own driver made their URLs.
	if req.From != nil && req.Auth != nil && v.scheme.Traits.Mailbox {
		if page, _ := originOf(req.From.URL); page == v.origin {
			req.From = nil
		}
	}
	if last := v.item.Last; last != nil && m.has(last) && !isListing(v.scheme, last.Kind == fetch.Menu.String(), last.Media) {
		req.IfNot = last.Validator
	}
	return req
}

// isListing reports whether an object of s is read line by line; what it leads to
// can only be told from its server's answer. Sitemaps are read as documents. The
// description of a WAIS database lists that alone, an index, which leads nowhere
// without words; and what is malformed is no less worth keeping.
func isListing(s fetch.Scheme, menu bool, media string) bool {
	media = mediaOf(media)
	return menu && !(s.Traits.Web && media != "text/html") && media != "application/x-wais-source"
}

// schemeOf returns the data of the scheme of u.
func (m *mirror) schemeOf(u uri.URI) fetch.Scheme { return m.Client.Scheme(u.Scheme()) }

// lasting reports whether u, a URL of s, names an object that never changes.
func lasting(s fetch.Scheme, u uri.URI) bool { return s.Mirror.Lasting != nil && s.Mirror.Lasting(u) }

// isGroup reports whether u, a URL of s, can name a newsgroup: news:comp.lang.c.
func isGroup(s fetch.Scheme, u uri.URI) bool { return s.Mirror.Article != nil && !lasting(s, u) }

// mirrored reports whether a mirror can retrieve objects of s. A session is no
// object, and an alias is mirrored as the object that it names.
func mirrored(s fetch.Scheme) bool {
	return s.Open != nil && !s.Traits.Session && !s.Mirror.Alias
}
