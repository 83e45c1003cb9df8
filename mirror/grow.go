package mirror

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/netip"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/links"
	"github.com/anyurl/fetch/uri"
)

// leads reports whether what is in the body leads to other URLs.
func leads(v *visit, resp *fetch.Response) bool {
	return resp.Kind == fetch.Menu || links.Holds(resp.Media) || isRobots(v.scheme, v.url)
}

// grow finds what v leads to. What is found goes into the tables at once where
// it is much, before v is complete: were it lost between the two, it would be
// found again.
func (m *mirror) grow(ctx context.Context, v *visit) error {
	g := m.growth(ctx, v, v.resp.Media, v.resp.Kind == fetch.Menu)
	g.header = v.resp.Header
	resp := v.resp
	if !resp.Location.IsZero() {
		g.redirect(resp.Location)
		return g.end()
	}
	g.site()
	body := io.Reader(strings.NewReader(""))
	if leads(v, resp) {
		if body, g.err = v.body.read(); g.err != nil {
			return g.err
		}
	}
	switch {
	case g.listing:
		g.entries(body)
	case isRobots(v.scheme, v.url):
		g.sitemaps(body)
	default:
		g.links(body)
	}
	return g.end()
}

// regrow finds what an object that is as it was leads to: this run has not
// seen that yet, and the scope may be another.
func (m *mirror) regrow(ctx context.Context, v *visit) error {
	last := v.item.Last
	g := m.growth(ctx, v, last.Media, last.Kind == fetch.Menu.String())
	if v.resp != nil {
		g.header = v.resp.Header
	}
	g.site()
	if g.listing || !links.Holds(last.Media) && !isRobots(v.scheme, v.url) {
		return g.end()
	}
	body, err := m.reopen(ctx, last)
	if err != nil { // Verify tells more; what was brought once is visited nonetheless
		v.note = err.Error()
		return g.end()
	}
	defer body.Close()
	if isRobots(v.scheme, v.url) {
		g.sitemaps(body)
	} else {
		g.links(body)
	}
	return g.end()
}

// peer returns the address that answered v. Where nothing was asked, it is that
// of the listing which led to v, but only if v has the same origin.
func (v *visit) peer() netip.Addr {
	if v.resp != nil {
		return v.resp.Peer
	}
	listing, err := uri.Parse(v.meta.From)
	if o, ok := originOf(listing); err == nil && ok && o == v.origin {
		return v.meta.Peer
	}
	return netip.Addr{}
}

// growth gathers what one visit leads to.
type growth struct {
	m       *mirror
	ctx     context.Context
	v       *visit
	listing bool
	media   string
	header  fetch.Header
	peer    netip.Addr
	items   []frontier.Item
	err     error

	from    string                    // the canonical form of the URL of v
	most    int64                     // URLs that v may add
	added   int64                     // so far, those in items included
	dropped int64                     // Stats.Dropped, where v is a newsgroup
	met     map[frontier.Key]struct{} // of a page
	flushes int                       // that were made to find out which of items the run knows
	last    encoded                   // the newest meta
}

// growth begins to gather.
func (m *mirror) growth(ctx context.Context, v *visit, media string, menu bool) *growth {
	g := &growth{m: m, ctx: ctx, v: v, media: media, peer: v.peer(), listing: isListing(v.scheme, menu, media)}
	if isGroup(v.scheme, v.url) {
		g.dropped, g.err = m.dropped(ctx)
	}
	if g.most = limit(m.Limits.Links, DefaultLinks); g.listing || v.meta.Guide {
		g.most = limit(m.Limits.Entries, DefaultEntries)
	}
	return g
}

// add takes a link, of which mt says what is known besides.
func (g *growth) add(u uri.URI, mt meta) {
	from := &g.v.meta
	text := canonical(u)
	why, off := g.m.scope.link(u, text, g.v.item.Depth+1, from.Extra, mt)
	reported := why == repeating || why == tooManyQueries || why == outOfScope && g.v.scheme.Mirror.References
	if why == "" || reported { // the visit reports why, without a request
		mt.Extra = off
		g.put(u, text, mt, g.v.item.Depth+1)
	}
}

// put adds what is in scope; text is the canonical form of u.
func (g *growth) put(u uri.URI, text string, mt meta, depth int) {
	if g.err != nil || !mirrored(g.m.schemeOf(u)) {
		return
	}
	if g.from == "" {
		g.from = canonical(g.v.url)
	}
	mt.From, mt.Peer = g.from, g.peer
	if mt.Under == "" {
		mt.Under = g.v.meta.Under
	}
	g.m.trust.vouch(u, text, &mt)
	if g.last.text == nil || g.last.meta != mt {
		g.last = encoded{mt.text(), mt}
	}
	it := newItem(u, text, g.v.item, g.last.text)
	if it.Depth = depth; mt.Guide {
		it.Priority = -1
	}
	if it.Key == g.v.item.Key || g.repeats(it.Key) || !g.room() {
		return
	}
	if g.items = append(g.items, it); len(g.items) >= someItems {
		g.flush()
	}
}

// someItems is how many are added in one call.
const someItems = 512

func (g *growth) flush() {
	var added int
	added, g.err = g.m.front.Add(g.ctx, g.items)
	g.added -= int64(len(g.items) - added)
	g.items = g.items[:0]
}

// maxMet bounds the links of a page that are remembered: some megabytes.
const maxMet = 1 << 16

// repeats reports whether a page has led to k before.
func (g *growth) repeats(k frontier.Key) bool {
	if _, met := g.met[k]; met || g.listing || len(g.met) >= maxMet {
		return met
	}
	if g.met == nil {
		g.met = map[frontier.Key]struct{}{}
	}
	g.met[k] = struct{}{}
	return false
}

// maxFlushes bounds the transactions of a page that repeats its links.
const maxFlushes = 64

// room reports whether v may lead to one more URL, and counts it. Only URLs
// that are new to the run count. The frontier knows which those are.
func (g *growth) room() bool {
	if g.added >= g.most && len(g.items) > 0 && g.flushes < maxFlushes {
		g.flushes++
		g.flush()
	}
	if g.added >= g.most {
		g.v.cut++
		return false
	}
	g.added++
	return true
}

// report notes how many URLs were left out.
func (g *growth) report() {
	if v := g.v; v.cut > 0 {
		kind := "links"
		if v.cutList = g.listing || v.meta.Guide; v.cutList {
			kind = "entries"
		}
		v.note = fmt.Sprintf("%d %s beyond the limit of %d are left out", v.cut, kind, g.most)
	}
}

// end leaves what was found to the visit, or to the tables where there is no
// memory for it.
func (g *growth) end() error {
	g.report()
	if isGroup(g.v.scheme, g.v.url) {
		return g.endGroup()
	}
	if g.err != nil || len(g.items) == 0 {
		return g.err
	}
	held := int64(0)
	for i := range g.items {
		held += 256 + int64(len(g.items[i].URL)+len(g.items[i].Meta))
	}
	if !g.m.memory.take(held) {
		g.flush()
		return g.err
	}
	g.v.children, g.v.held = slices.Clip(g.items), held
	return nil
}

// links reads a page, a style sheet, a sitemap or a Link field.
func (g *growth) links(body io.Reader) {
	from := &g.v.meta
	if from.Extra > 0 && mediaOf(g.media) != "text/css" {
		return // a page that another needs is not a page to walk on from
	}
	for l, err := range links.Extract(g.v.url, g.media, g.header, body) {
		if err != nil || g.err != nil {
			return // what cannot be read leads nowhere further
		}
		switch {
		case l.Kind == links.Form, l.NoFollow && !g.m.IgnoreRobots:
		case l.Kind == links.Sitemap && from.Guide:
			g.guide(l.URL)
		default:
			g.add(l.URL, meta{Part: l.Kind == links.Requisite || l.Kind == links.Frame})
		}
	}
}

// entries reads a listing by the parser of its scheme.
func (g *growth) entries(body io.Reader) {
	resp := *g.v.resp
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
	if e.URL.IsZero() || e.Kind == fetch.Session || e.Kind == fetch.Index || e.Kind == fetch.Info || g.m.isOwn(e) {
		return
	}
	mt := meta{Time: e.Time, Run: g.m.total.Run, Ways: g.v.meta.Ways, Named: g.names(e)}
	switch target, link := linkOf(e); {
	case link:
		if mt.Ways = g.through(e.URL, target); mt.Ways == nil {
			return
		}
	case e.Kind == fetch.Unknown && e.Extra["type"] != "" && g.m.schemeOf(e.URL).Traits.Exact: // a pipe, a device: who opens one may wait for ever
		return
	}
	if e.Size >= 0 && e.Kind != fetch.Menu {
		mt.Size = &e.Size
	}
	g.add(g.article(e, &mt), mt)
	if e.Extra["plus"] == "+" {
		g.attributes(e, mt)
	}
}

// names reports whether a listing of references makes e part of the mirror,
// although e may lie on another host: a file that a Prospero directory names, or another
// directory of the same server. Directories of other servers are left out,
// because they name the rest of the world.
func (g *growth) names(e fetch.Entry) bool {
	if !g.v.scheme.Mirror.References {
		return false
	}
	if e.Kind != fetch.Menu {
		return true
	}
	origin, ok := originOf(e.URL)
	return ok && origin == g.v.origin
}

// article returns the URL by which e is mirrored. It is that of e, unless e is
// an article with a lasting URL that the driver accepts.
func (g *growth) article(e fetch.Entry, mt *meta) uri.URI {
	s := g.m.schemeOf(e.URL)
	if s.Mirror.Article == nil {
		return e.URL
	}
	u, number, ok := s.Mirror.Article(g.v.url, e)
	if !ok {
		return e.URL
	}
	if _, err := g.m.Client.Plan(&fetch.Request{URL: u}); err != nil {
		return e.URL
	}
	mt.Name = number
	return u
}

// attributes adds what Gopher+ tells about an item beside it.
func (g *growth) attributes(e fetch.Entry, mt meta) {
	mt.Size = nil
	if u, err := uri.Parse(e.URL.Unredacted() + "%09%09!"); err == nil {
		g.add(u, mt)
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
