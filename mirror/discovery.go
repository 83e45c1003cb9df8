package mirror

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// discovery gathers what one visit leads to.
type discovery struct {
	c       *crawl
	ctx     context.Context
	v       *visit
	listing bool
	media   string
	header  fetch.Header
	peer    netip.Addr
	items   []frontier.Item
	err     error

	from     string                    // the canonical form of the URL of v
	limit    int64                     // URLs that v may add
	added    int64                     // so far, those in items included
	urlBytes int64                     // bytes of the URLs so far
	dropped  int64                     // Stats.Dropped, where v is a newsgroup
	seen     map[frontier.Key]struct{} // of a page
	flushes  int                       // that were made to find out which of items the run knows
	lastMeta encodedMeta               // the newest meta
}

// newDiscovery begins to gather.
func (c *crawl) newDiscovery(ctx context.Context, v *visit, media string, menu bool) *discovery {
	d := &discovery{c: c, ctx: ctx, v: v, media: media, peer: v.peer(), listing: isListing(v.scheme, menu, media)}
	if isGroup(v.scheme, v.url) {
		d.dropped, d.err = c.dropped(ctx)
	}
	if d.limit = limitOr(c.o.Limits.Links, DefaultLinks); d.listing || v.meta.SiteInfo {
		d.limit = limitOr(c.o.Limits.Entries, DefaultEntries)
	}
	return d
}

// add takes a link, of which mt says what is known besides.
func (d *discovery) addLink(u uri.URI, mt meta) {
	from := &d.v.meta
	text := archive.Canonical(u)
	why, off := d.c.scope.checkLink(u, text, d.v.item.Depth+1, from.OutOfReach, mt)
	reported := why == reasonRepeats || why == reasonQueries || why == reasonScope && d.v.scheme.Mirror.References
	if why == "" || reported { // the visit reports why, without a request
		mt.OutOfReach = off
		d.addItem(u, text, mt, d.v.item.Depth+1)
	}
}

// put adds what is in scope; text is the canonical form of u.
func (d *discovery) addItem(u uri.URI, text string, mt meta, depth int) {
	if d.err != nil || !canMirror(d.c.schemeOf(u)) {
		return
	}
	if d.from == "" {
		d.from = archive.Canonical(d.v.url)
	}
	mt.From, mt.Peer = d.from, d.peer
	if mt.SeedTarget == "" {
		mt.SeedTarget = d.v.meta.SeedTarget
	}
	d.c.trust.markTrusted(u, text, &mt)
	if d.lastMeta.text == nil || d.lastMeta.meta != mt {
		d.lastMeta = encodedMeta{mt.encode(), mt}
	}
	it := newItem(u, text, d.v.item, d.lastMeta.text)
	if it.Depth = depth; mt.SiteInfo {
		it.Priority = -1
	}
	if it.Key == d.v.item.Key || d.seenBefore(it.Key) {
		return
	}
	if d.urlBytes += int64(len(text)); !d.withinLimit() {
		return
	}
	if d.items = append(d.items, it); len(d.items) >= itemsPerAdd {
		d.flush()
	}
}

// someItems is how many are added in one call.
const itemsPerAdd = 512

func (d *discovery) flush() {
	var added int
	added, d.err = d.c.queue.Add(d.ctx, d.items)
	d.added -= int64(len(d.items) - added)
	d.items = d.items[:0]
}

// maxMet bounds the links of a page that are remembered: some megabytes.
const maxSeen = 1 << 16

// repeats reports whether a page has led to k before.
func (d *discovery) seenBefore(k frontier.Key) bool {
	if _, met := d.seen[k]; met || d.listing || len(d.seen) >= maxSeen {
		return met
	}
	if d.seen == nil {
		d.seen = map[frontier.Key]struct{}{}
	}
	d.seen[k] = struct{}{}
	return false
}

// maxFlushes bounds the transactions of a page that repeats its links.
const maxFlushes = 64

// The URLs of a page may have maxText bytes, and meanURL bytes more for each
// URL that the limit allows. A base URL can make many long URLs of a short page.
const (
	freeURLBytes = 1 << 20
	bytesPerURL  = 400
)

// room reports whether v may lead to one more URL, and counts it. Only URLs
// that are new to the run count. The frontier knows which those are.
func (d *discovery) withinLimit() bool {
	if d.urlBytes > freeURLBytes && (d.urlBytes-freeURLBytes)/bytesPerURL > d.limit {
		d.v.omitted++
		return false
	}
	if d.added >= d.limit && len(d.items) > 0 && d.flushes < maxFlushes {
		d.flushes++
		d.flush()
	}
	if d.added >= d.limit {
		d.v.omitted++
		return false
	}
	d.added++
	return true
}

// report notes how many URLs were left out.
func (d *discovery) noteOmitted() {
	if v := d.v; v.omitted > 0 {
		kind := "links"
		if v.omittedEntries = d.listing || v.meta.SiteInfo; v.omittedEntries {
			kind = "entries"
		}
		v.note = fmt.Sprintf("%d %s beyond the limit of %d are left out", v.omitted, kind, d.limit)
	}
}

// end leaves what was found to the visit, or to the tables where there is no
// memory for it.
func (d *discovery) finish() error {
	d.noteOmitted()
	if isGroup(d.v.scheme, d.v.url) {
		return d.finishGroup()
	}
	if d.err != nil || len(d.items) == 0 {
		return d.err
	}
	held := int64(0)
	for i := range d.items {
		held += 256 + int64(len(d.items[i].URL)+len(d.items[i].Meta))
	}
	if !d.c.archive.Memory().Reserve(held) {
		d.flush()
		return d.err
	}
	d.v.children, d.v.reserved = slices.Clip(d.items), held
	return nil
}

// endGroup adds the rest of the articles, and notes whether any was left out.
func (d *discovery) finishGroup() error {
	if d.err == nil {
		d.flush()
	}
	dropped, err := d.c.dropped(d.ctx)
	d.v.incomplete = d.v.omitted > 0 || dropped > d.dropped // of another host, perhaps, which does no harm
	return archive.Join(d.err, err)
}

// dropped counts what Limits.Queue has kept out.
func (c *crawl) dropped(ctx context.Context) (int64, error) {
	s, err := c.queue.Stats(ctx)
	return s.Dropped, err
}
