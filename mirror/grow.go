package mirror

import (
	"context"
	"io"
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/frontier"
	"github.com/anyurl/fetch/mirror/links"
	"github.com/anyurl/fetch/uri"
)

// leads reports whether what is in the body leads to other URLs.
func leads(resp *fetch.Response) bool {
	return resp.Kind == fetch.Menu || links.Holds(resp.Media)
}

// grow finds what v leads to. What is found goes into the tables at once,
// before v is complete: were it lost between the two, it would be found again.
func (m *mirror) grow(ctx context.Context, v *visit) error {
	g := &growth{m: m, ctx: ctx, v: v}
	resp := v.resp
	if !resp.Location.IsZero() {
		g.add(resp.Location, found{})
		return g.end()
	}
	g.robots()
	if !leads(resp) && len(resp.Header) == 0 {
		return g.end()
	}
	if resp.Kind == fetch.Menu {
		g.entries()
	} else {
		g.links()
	}
	return g.end()
}

// growth gathers what one visit leads to.
type growth struct {
	m     *mirror
	ctx   context.Context
	v     *visit
	items []frontier.Item
	err   error
}

// found is what is known of a link besides its URL.
type found struct {
	meta
	requisite bool
	early     bool // before anything else
}

// someItems is how many are added in one call.
const someItems = 512

func (g *growth) add(u uri.URI, f found) {
	if g.err != nil {
		return
	}
	if _, ok := hearings[u.Scheme()]; !ok && !known[u.Scheme()] {
		return
	}
	why, off := g.m.scope.link(u, g.v.item.Depth+1, g.v.meta.Extra, f.requisite)
	if why != "" {
		return
	}
	f.From, f.Extra = g.v.url.WithoutUserinfo().Unredacted(), off
	f.Peer = g.v.resp.Peer
	it := newItem(u, g.v.item, f.meta)
	if it.Key == g.v.item.Key {
		return
	}
	if f.early {
		it.Priority--
	}
	if g.items = append(g.items, it); len(g.items) < someItems {
		return
	}
	_, g.err = g.m.front.Add(g.ctx, g.items)
	g.items = g.items[:0]
}

// known are the schemes, besides those that are heard, whose objects a mirror
// can bring. A session is no object, and a mid is where a mailbox says.
var known = map[string]bool{"wais": true, "prospero": true, "imap": true, "imaps": true, "file": true}

func (g *growth) end() error {
	g.v.children = g.items
	return g.err
}

// robots adds the robots.txt of a site at its first page: it is part of what
// the site says, and its Sitemap lines lead on.
func (g *growth) robots() {
	u := g.v.url
	if u.Scheme() != "http" && u.Scheme() != "https" {
		return
	}
	origin, ok := originOf(u)
	if _, seen := g.m.origins.LoadOrStore(origin, true); seen || !ok {
		return
	}
	at, err := u.WithoutQuery().WithoutFragment().WithPath("/robots.txt")
	if err != nil {
		return
	}
	it := newItem(at, g.v.item, meta{From: canonical(u), Peer: g.v.resp.Peer, Guess: true})
	it.Depth, it.Priority = 0, it.Priority-2
	g.items = append(g.items, it)
}

// links reads a page, a style sheet, a sitemap or a Link field.
func (g *growth) links() {
	if off := g.v.meta.Extra; off > 0 && !strings.HasPrefix(g.v.resp.Media, "text/css") {
		return // a page that another needs is not a page to walk on from
	}
	var body io.ReadSeeker = strings.NewReader("")
	if leads(g.v.resp) {
		if body, g.err = g.v.body.read(); g.err != nil {
			return
		}
	}
	for l, err := range links.Extract(g.v.url, g.v.resp.Media, g.v.resp.Header, body) {
		if err != nil || g.err != nil {
			return // what cannot be read leads nowhere further
		}
		if l.Kind == links.Form || l.NoFollow && !g.m.IgnoreRobots {
			continue
		}
		g.add(l.URL, found{requisite: l.Kind == links.Requisite || l.Kind == links.Frame})
	}
}

// entries reads a listing by the parser of its scheme.
func (g *growth) entries() {
	resp := *g.v.resp
	body, err := g.v.body.read()
	if err != nil {
		g.err = err
		return
	}
	resp.Body = io.NopCloser(body)
	for e, err := range resp.Entries() {
		if g.err != nil {
			return
		}
		if err != nil {
			g.err = err // half a listing tells nothing of the other half
			return
		}
		g.entry(e)
	}
}

// entry adds what one line of a listing leads to.
func (g *growth) entry(e fetch.Entry) {
	_, link := e.Extra["link"]
	switch {
	case e.URL.IsZero(), e.Kind == fetch.Session, e.Kind == fetch.Index, e.Kind == fetch.Info,
		(link || e.Extra["type"] == "symlink") && !g.m.FollowLinks:
		return
	}
	f := found{}
	if e.Size >= 0 && e.Kind != fetch.Menu {
		f.Size = &e.Size
		if limit := g.m.Limits.FileSize; limit > 0 && e.Size > limit && exact(e.URL) {
			return
		}
	}
	f.Time = e.Time
	g.add(g.article(e, &f), f)
	if e.Extra["plus"] == "+" {
		g.attributes(e, f)
	}
}

// article names an article by its message-id: numbers are the server's, and
// cross-posts have several.
func (g *growth) article(e fetch.Entry, f *found) uri.URI {
	id := strings.Trim(e.Extra["message_id"], "<>")
	if hearings[e.URL.Scheme()] != heads || id == "" {
		return e.URL
	}
	scheme := "news"
	if s := e.URL.Scheme(); s == "snews" || s == "nntps" {
		scheme = "snews"
	}
	host := g.v.url.Host()
	if port, ok := g.v.url.Port(); ok {
		host += ":" + port
	}
	u, err := uri.Parse(scheme + "://" + host + "/" + uri.Escape(id, uri.Segment))
	if host == "" || err != nil {
		return e.URL
	}
	f.Name = g.v.url.Unredacted() + "#" + e.Extra["number"]
	return u
}

// attributes adds what Gopher+ tells about an item beside it.
func (g *growth) attributes(e fetch.Entry, f found) {
	f.Size = nil
	if u, err := uri.Parse(e.URL.Unredacted() + "%09%09!"); err == nil {
		g.add(u, f)
	}
}

// mediaOf is a media type without its parameters.
func mediaOf(text string) string {
	media, _, err := mime.ParseMediaType(text)
	if err != nil {
		return strings.ToLower(strings.TrimSpace(text))
	}
	return media
}
