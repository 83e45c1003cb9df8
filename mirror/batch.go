package mirror

import (
	"context"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// A batch writes completed visits of one host to the archive. It then claims
// more items of this host from the frontier. It runs in its own goroutine. A
// host has at most one running batch.
type batch struct {
	h      *hostWorker
	visits []*visit
	claim  int           // number of items to claim
	ended  chan struct{} // closed when the batch has ended

	blocked time.Time // end of the pause of the host, or zero
	claimed []frontier.Item
	err     error
}

func (b *batch) run(ctx context.Context) {
	defer close(b.ended)
	if b.store(ctx); b.err == nil && b.claim > 0 {
		b.claimed, b.err = b.h.c.queue.ClaimMore(ctx, b.h.lease, b.claim)
	}
	b.h.endBatch(b)
}

// store commits the visits of the batch and releases their memory.
func (b *batch) store(ctx context.Context) {
	if len(b.visits) == 0 {
		return
	}
	c := b.h.c
	if !b.blocked.IsZero() {
		b.err = c.queue.BlockHost(c.ending, b.h.lease.Host, c.databaseTime(b.blocked))
	}
	if b.err == nil {
		b.err = c.commit(b.h.lease, b.visits)
	}
	for _, v := range b.visits {
		v.free()
	}
	if b.err == nil {
		b.err = c.checkLimits(ctx)
	}
	if b.err == nil {
		b.err = c.checkSpace()
	}
}

// commit writes the visits to the archive in one transaction and reports an
// event for each visit.
func (c *crawl) commit(l *frontier.Lease, visits []*visit) error {
	visits = withCompanions(visits)
	entries := make([]archive.Entry, len(visits))
	events := make([]Event, len(visits))
	for i, v := range visits {
		entries[i] = c.entry(v)
		entries[i].Line = func() any {
			k := entries[i].Result.Capture
			events[i] = c.report.newEvent(v, k, c.trust.isSeed(v))
			return newLogLine(events[i], v, k)
		}
	}
	if err := c.deliver(visits, entries); err != nil {
		return err
	}
	return c.archive.Commit(c.ending, l, entries, func() {
		c.committed.Add(int64(len(visits)))
		for i, v := range visits {
			c.report.addVisit(v, events[i])
		}
		c.report.progress(c.stats)
	})
}

func (c *crawl) stats() (frontier.Stats, error) { return c.queue.Stats(c.ending) }

// entry returns the archive entry that records the visit v.
func (c *crawl) entry(v *visit) archive.Entry {
	e := archive.Entry{
		URL: v.url, Body: v.body, Digest: v.digest, Size: v.size, Unchanged: v.content.isUnchanged(), SameContent: v.content.isSame(),
		Result: frontier.Result{
			Item: v.item, State: v.outcome.state(), Retry: c.databaseTime(v.retry),
			Postpone: v.outcome == visitUnreached || v.outcome == visitUntrusted,
			Defer:    v.requested && v.err != nil && v.outcome != visitUntrusted,
			Note:     v.note, Children: v.children, Capture: c.capture(v), Counts: v.counts.Counts, Objects: v.counts.objects,
		},
		Records: func(duplicate *frontier.Capture) ([]*warc.Record, error) { return c.records(v, duplicate) },
	}
	e.Result.Foreign = v.captured != nil
	if v.page != nil && c.o.WARC != nil {
		e.Extra = v.extraRecords
	}
	if v.err != nil {
		e.Result.Error = fetch.FaultOf(v.err).String()
	}
	if v.meta.Target = ""; v.redirects() && v.outcome == visitDone {
		v.meta.Target = archive.Canonical(v.resp.Location)
		e.Result.Meta = c.trust.encode(&v.item, v.meta)
	}
	if isRobotsTxt(v.scheme, v.url) {
		v.meta.Robots = robotsResultOf(v)
		e.Result.Meta = c.trust.encode(&v.item, v.meta)
	}
	if v.resp != nil {
		e.Menu, e.NoFile = v.resp.Kind == fetch.Menu, !v.resp.Location.IsZero()
	}
	return e
}

// storableTime returns t in UTC, or the zero Time if crawl.jsonl cannot contain
// the year. A server can send such a time, and a local file can have one.
func storableTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// capture returns the metadata of the object that v retrieved. It returns nil
// if v retrieved no object, or if the archive already contains the same
// metadata. It also returns nil for a redirect that leaves an older file in the
// tree.
func (c *crawl) capture(v *visit) *frontier.Capture {
	archived := v.content.isUnchanged() || v.content == contentFileKept
	if v.err != nil || v.resp == nil || v.body == nil || archived || !v.outcome.succeeded() && !v.redirects() {
		return nil
	}
	k := &frontier.Capture{
		Key: v.item.Key, URL: v.item.URL, Run: c.runNumber, Time: v.started, Kind: v.resp.Kind.String(),
		Media: v.resp.Media, Code: v.resp.Code, Size: v.size, Digest: v.digest,
		Validator: v.condition(), Modified: storableTime(v.resp.Time),
	}
	if k.Validator == "" && v.mark != "" {
		k.Validator = v.mark
	}
	last := v.item.LastCapture
	if last == nil {
		return k
	}
	if !v.redirects() { // the target has its own file
		k.Path = last.Path
	}
	if v.content.isSame() && last.Validator == k.Validator && last.Modified.Equal(k.Modified) && c.archive.Has(last) {
		return nil
	}
	return k
}

// condition returns the validator for a later conditional request. A web response
// may have a validator that identifies no version for ranges. Examples are a weak
// entity tag, and the entity tag of a body whose content coding was removed.
func (v *visit) condition() string {
	if v.scheme.Traits.Web && v.resp.Code/100 == 2 {
		return http1.Condition(v.resp.Header.Get, http.ParseTime)
	}
	return v.resp.Validator
}
