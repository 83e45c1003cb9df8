package mirror

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
)

// Batches: what is claimed at a time, and what is committed together at the
// latest.
const (
	claimSize  = 512
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// lease is how long a dead worker keeps a host from the others.
const leaseDuration = time.Minute

// host is a lease at work. It belongs to the goroutine of work; the lease, while
// a batch is under way, to that.
type hostWorker struct {
	c       *crawl
	lease   *frontier.Lease
	queue   []frontier.Item
	todo    chan frontier.Item
	results chan *visit

	inFlight      int // visits that have not come back
	visits        []*visit
	bytes         int64
	flushDue      bool   // the visits have waited long enough
	batch         *batch // nil: none is under way
	frontierEmpty bool   // the frontier had nothing more, and nothing was committed since
	paused        bool   // nothing more is asked of the host under this lease
}

// host works off one lease: its items go to as many visitors as the host may be
// asked at a time, and what they brought is committed in batches.
func (c *crawl) visitHost(ctx context.Context, l *frontier.Lease) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := &hostWorker{c: c, lease: l, queue: l.Items, todo: make(chan frontier.Item), results: make(chan *visit, batchSize)}
	visits, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range c.connections(l.Host) {
		workers.Go(func() {
			for it := range h.todo {
				h.results <- c.visitItem(visits, it)
			}
		})
	}
	workers.Go(func() { c.extendLease(visits, *l, cancel) })
	err := h.work(ctx)
	if err != nil {
		err = h.finish(ctx, err)
	}
	stop()
	close(h.todo)
	go func() { workers.Wait(); close(h.results) }()
	for v := range h.results { // ctx has ended, or something failed: these stay pending
		if v != nil {
			v.free()
		}
	}
	if errors.Is(err, frontier.ErrFenced) {
		return nil // whoever has the host now visits what is left
	}
	return archive.Join(err, c.queue.Release(context.WithoutCancel(ctx), l, time.Time{}))
}

// keep extends the lease while its host is worked on, however long a commit takes.
func (c *crawl) extendLease(ctx context.Context, l frontier.Lease, cancel context.CancelCauseFunc) {
	every := time.NewTicker(leaseDuration / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if err := c.queue.Extend(ctx, &l, leaseDuration); err != nil && ctx.Err() == nil {
				cancel(err)
				return
			}
		}
	}
}

// connections returns how many connections a host gets at a time.
func (c *crawl) connections(host string) int {
	switch {
	case c.o.PerHost > 0:
		return c.o.PerHost
	case privateHost(host):
		return 2
	}
	return 1
}

// Near reports whether a host, as URLs write it, is this machine or in a
// private network: one that needs no sparing.
func privateHost(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast())
}

func (h *hostWorker) work(ctx context.Context) error {
	flush := time.NewTimer(batchAge)
	defer flush.Stop()
	for {
		h.startBatch(ctx)
		if h.batch == nil && h.idle() && len(h.visits) == 0 {
			return nil
		}
		todo, done, next := h.todo, h.results, frontier.Item{}
		if len(h.queue) > 0 {
			next = h.queue[0]
		} else {
			todo = nil
		}
		if h.full() { // until the batch has ended
			done = nil
		}
		select {
		case todo <- next:
			h.queue = h.queue[1:]
			h.inFlight++
		case v := <-done:
			h.inFlight--
			if err := h.collect(ctx, v, flush); err != nil {
				return err
			}
		case <-h.batch.done():
			if err := h.endBatch(); err != nil {
				return err
			}
		case <-flush.C:
			h.flushDue = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// idle reports whether nothing is left to be visited that is known here.
func (h *hostWorker) idle() bool { return len(h.queue) == 0 && h.inFlight == 0 }

func (h *hostWorker) full() bool { return len(h.visits) >= batchSize || h.bytes >= batchBytes }

// collect keeps a visit for the next batch.
func (h *hostWorker) collect(ctx context.Context, v *visit, flush *time.Timer) error {
	switch {
	case v == nil:
		return context.Cause(ctx)
	case v.localFailure: // it stays pending: nothing was wrong with it
		v.free()
		return v.err
	}
	why, err := h.c.tally.count(v)
	if err != nil {
		v.free()
		return err
	}
	if why != "" {
		v.free()
		v.exclude(why)
	}
	if until := h.c.outages.pauseUntil(v); !until.IsZero() {
		if err := h.c.queue.BlockHost(ctx, h.lease.Host, until); err != nil {
			v.free()
			return err
		}
		h.queue, h.paused = nil, true // what was handed out and not asked for stays pending
		if v.state == frontier.Pending {
			v.retry = until.Add(time.Second) // others first: it may be this one alone
		}
	}
	if len(h.visits) == 0 {
		flush.Reset(batchAge)
		h.flushDue = false
	}
	h.visits = append(h.visits, v)
	h.bytes += v.size
	return nil
}

// end commits what was brought before the run has to end, by cause.
func (h *hostWorker) finish(ctx context.Context, cause error) error {
	if h.batch != nil {
		<-h.batch.done()
		cause = archive.Join(cause, h.endBatch())
	}
	b := h.newBatch()
	b.store(ctx)
	return archive.Join(cause, b.err)
}

// newBatch takes the visits of h.
func (h *hostWorker) newBatch() *batch {
	b := &batch{c: h.c, lease: h.lease, visits: h.visits, ended: make(chan struct{})}
	h.visits, h.bytes, h.flushDue = nil, 0, false
	return b
}

// startBatch begins a batch where there is a reason: visits that are many, old
// or the last, or a queue that runs low.
func (h *hostWorker) startBatch(ctx context.Context) {
	if h.batch != nil || ctx.Err() != nil {
		return
	}
	due := len(h.visits) > 0 && (h.full() || h.flushDue || h.idle())
	hungry := len(h.queue) <= claimSize/2 && !h.paused
	if !due && (!hungry || h.frontierEmpty) {
		return
	}
	b := &batch{c: h.c, lease: h.lease, ended: make(chan struct{})}
	if due {
		b = h.newBatch()
	}
	if hungry {
		b.claim = claimSize - len(h.queue)
	}
	h.batch = b
	go b.run(ctx)
}

// endBatch takes the items of the batch that has ended.
func (h *hostWorker) endBatch() error {
	b := h.batch
	h.batch = nil
	switch {
	case b.claim > 0:
		h.frontierEmpty = len(b.claimed) == 0
	case len(b.visits) > 0:
		h.frontierEmpty = false
	}
	if !h.paused {
		h.queue = append(h.queue, b.claimed...)
	}
	return b.err
}
