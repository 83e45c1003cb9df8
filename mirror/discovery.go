package mirror

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/trap"
	"github.com/anyurl/fetch/uri"
)

// A discovery collects the URLs that one visit adds to the frontier.
type discovery struct {
	c       *crawl
	ctx     context.Context
	v       *visit
	listing bool
	media   string
	header  fetch.Header
	peer    netip.Addr // address of the server of from
	stored  bool       // if true, an earlier process has stored the object, or a part of it
	items   []frontier.Item
	err     error

	from     string                    // canonical URL of the document with the next links, or "", which means that of v
	guard    Guard                     // OverLinks or OverEntries
	limit    int64                     // maximum number of URLs that v may add
	added    int64                     // number of URLs added so far, including items
	urlBytes int64                     // bytes of all URLs so far
	dropped  int64                     // value of Stats.Dropped at the start, if v is a newsgroup
	seen     map[frontier.Key]struct{} // keys of the URLs found in the page so far
	flushes  int                       // number of calls of flush to determine which items are new
	lastMeta encodedMeta               // encoding of the newest meta, because most links of a page have the same
	text     *trap.TextDigest          // digest of the text of the page, or nil
}

type encodedMeta struct {
	text []byte
	meta meta
}

// newDiscovery returns an empty discovery for the visit v.
func (c *crawl) newDiscovery(ctx context.Context, v *visit, media string, menu bool) *discovery {
	d := &discovery{c: c, ctx: ctx, v: v, media: media, peer: v.peer(), listing: isListing(v.scheme, menu, media)}
	if isGroup(v.scheme, v.url) {
		d.dropped, d.err = c.dropped(ctx)
	}
	d.guard, d.limit = OverLinks, limitOr(c.o.Limits.Links, defaultLinks)
	if d.listing || v.meta.SiteInfo {
		d.guard, d.limit = OverEntries, limitOr(c.o.Limits.Entries, defaultEntries)
	}
	return d
}

// addLink adds the URL u if it is in scope. The parameter mt contains the
// properties of the link, such as the size in a listing.
func (d *discovery) addLink(u uri.URI, mt meta) {
	from := &d.v.meta
	text := archive.Canonical(u)
	mt.From = d.fromText()
	mt.Chain = d.c.chainOf(d.v.item.URL, from.Chain, u, text)
	reason, off := d.c.scope.checkLink(u, text, d.v.item.Depth+1, from.OutOfReach, mt)
	d.keepLink(u, mt, reason)
	_, reported := guardOf(reason)
	if reason == reasonURLBytes {
		d.v.leftOut[OverURLBytes]++ // the database does not store the URL
		return
	}
	reported = reported || reason == reasonScope && d.v.scheme.Mirror.References
	if reason == "" || reported { // a reported URL is added too, so that its visit logs the reason
		mt.OutOfReach = off
		d.addItem(u, text, mt, d.v.item.Depth+1)
	}
}

// fromText returns the canonical URL of the document with the next links.
func (d *discovery) fromText() string {
	if d.from == "" {
		d.from = archive.Canonical(d.v.url)
	}
	return d.from
}

// addItem adds the URL u without checking the scope. The parameter text is the
// canonical form of u.
func (d *discovery) addItem(u uri.URI, text string, mt meta, depth int) {
	if d.err != nil || !canMirror(d.c.schemeOf(u)) {
		return
	}
	mt.From, mt.Peer = d.fromText(), d.peer
	if mt.SeedTarget == "" {
		mt.SeedTarget = d.v.meta.SeedTarget
	}
	switch {
	case !d.v.isConfirmed(): // the database determines the links
	case !d.stored:
		d.c.trust.markTrusted(u, text, &mt)
	case d.needsSource(u, text):
		d.err = errUnproven
		return
	}
	if d.lastMeta.text == nil || d.lastMeta.meta != mt {
		d.lastMeta = encodedMeta{mt.encode(), mt}
	}
	identity := d.c.identity.Identity(text)
	it := newItem(u, text, frontier.KeyOf(identity), d.v.item, d.lastMeta.text)
	if identity != text {
		d.v.sessionLinks++
	}
	if it.Depth = depth; mt.SiteInfo {
		it.Priority = -1
	}
	if it.Key == d.v.item.Key || d.seenBefore(it.Key) {
		return
	}
	if d.urlBytes += int64(len(text)); !d.withinLimit() {
		return
	}
	if mt.Found {
		it.Meta = d.c.trust.seal(&it, it.Meta)
	}
	if d.items = append(d.items, it); len(d.items) >= itemsPerAdd {
		d.flush()
	}
}

// itemsPerAdd is the maximum number of items in one call of Frontier.Add.
const itemsPerAdd = 512

func (d *discovery) flush() {
	var added int
	added, d.err = d.c.queue.Add(d.ctx, d.items)
	d.added -= int64(len(d.items) - added)
	d.items = d.items[:0]
}

// maxSeen is the maximum number of links in a page that are checked for
// duplicates. These links occupy a few megabytes of memory.
const maxSeen = 1 << 16

// seenBefore reports whether the page contains an earlier link to the URL with
// the key k.
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

// maxFlushes is the maximum number of extra transactions for one page, which
// detect links that the frontier already contains.
const maxFlushes = 64

// A page may add URLs with a total size of freeURLBytes, plus bytesPerURL for
// each URL that the limit allows. Without this limit, a long base URL could
// turn a short page into a large number of long URLs.
const (
	freeURLBytes = 1 << 20
	bytesPerURL  = 400
)

// withinLimit counts one more URL and reports whether v may add it. URLs that
// the frontier already contains do not count. When the limit is reached,
// withinLimit therefore flushes the items and uses the number that the frontier
// added.
func (d *discovery) withinLimit() bool {
	if d.urlBytes > freeURLBytes && (d.urlBytes-freeURLBytes)/bytesPerURL > d.limit {
		d.v.leftOut[d.guard]++
		return false
	}
	if d.added >= d.limit && len(d.items) > 0 && d.flushes < maxFlushes {
		d.flushes++
		d.flush()
	}
	if d.added >= d.limit {
		d.v.leftOut[d.guard]++
		return false
	}
	d.added++
	return true
}

// noteOmitted writes the number of omitted URLs to the note of the visit.
func (d *discovery) noteOmitted() {
	if n := d.v.leftOut[d.guard]; n > 0 {
		d.v.note = fmt.Sprintf("%d %s beyond the limit of %d were omitted", n, d.guard, d.limit)
	}
}

// finish stores the collected items in the visit. If the memory limit is
// reached, finish adds the items to the frontier instead.
func (d *discovery) finish() error {
	d.limitSameText()
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

// finishGroup adds the remaining articles of a newsgroup to the frontier. It
// sets v.incomplete if articles were omitted.
func (d *discovery) finishGroup() error {
	if d.err == nil {
		d.flush()
	}
	dropped, err := d.c.dropped(d.ctx)
	d.v.incomplete = d.v.leftOut[d.guard] > 0 || dropped > d.dropped // includes URLs of other hosts, which is harmless
	return archive.JoinDistinct(d.err, err)
}

// dropped returns the number of URLs that the frontier dropped because of
// Limits.Queue.
func (c *crawl) dropped(ctx context.Context) (int64, error) {
	s, err := c.queue.Stats(ctx)
	return s.Dropped, err
}
