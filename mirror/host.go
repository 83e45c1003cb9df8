package mirror

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
)

// claimSize is the maximum number of items in a claim. A batch is committed
// when its visits reach the number batchSize, the size batchBytes or the age
// batchAge.
const (
	claimSize  = 512
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// leaseDuration is the time after which a lease expires unless it is extended.
// Other workers can then claim the host, for example after a crash.
const leaseDuration = time.Minute

// A hostWorker visits the URLs of one host under a lease. The goroutine of the
// method work owns the fields that mu does not guard. While a batch runs, the
// batch owns the lease.
type hostWorker struct {
	c       *crawl
	lease   *frontier.Lease
	queue   []frontier.Item
	todo    chan frontier.Item
	results chan *visit

	inFlight      int // number of visits that have not ended
	visits        []*visit
	bytes         int64
	flushDue      bool                      // if true, the oldest visit is older than batchAge
	batch         *batch                    // nil if no batch runs
	expires       atomic.Pointer[time.Time] // end of the lease by the local clock
	frontierEmpty bool                      // if true, the last claim returned no items, and no visit was committed since
	paused        bool                      // if true, the host gets no more requests under this lease

	stopping chan struct{} // closed by stop

	mu         sync.Mutex // guards the following fields
	stopped    bool
	turns      map[*turn]struct{} // turns of the visits that have not ended
	crawlDelay time.Duration      // longest Crawl-delay of the host under this lease
}

// visitHost visits the URLs of the leased host and commits the visits in
// batches. It uses as many connections as Options allow for the host. The
// parameter claimed is a time just before the lease was claimed.
func (c *crawl) visitHost(ctx context.Context, l *frontier.Lease, claimed time.Time) error {
	c.leases.Add(1)
	defer c.leases.Add(-1)
	c.logLease(l)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := &hostWorker{
		c: c, lease: l, queue: l.Items,
		todo: make(chan frontier.Item), results: make(chan *visit, batchSize),
		stopping: make(chan struct{}), turns: map[*turn]struct{}{},
	}
	c.visited.Store(l.Host, h)
	defer c.visited.Delete(l.Host)
	h.setExpiry(claimed)
	visits, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range c.connections(l.Host) {
		workers.Go(func() {
			for it := range h.todo {
				h.results <- h.visit(visits, it)
			}
		})
	}
	workers.Go(func() { h.extendLease(visits, *l, cancel) })
	err := h.work(ctx)
	if err != nil {
		err = h.finish(ctx, err)
	}
	stop()
	close(h.todo)
	go func() { workers.Wait(); close(h.results) }()
	for v := range h.results { // discarded after an error or a cancellation; the items remain pending
		if v != nil {
			v.free()
		}
	}
	if c.archive.Uploads() && errors.Is(err, fetch.DiskFull) {
		err = c.pauseFull(err) // the items remain pending
	}
	if errors.Is(err, frontier.ErrFenced) {
		return c.loseLease(l)
	}
	released := c.queue.Release(c.ending, l, h.nextRequest())
	if errors.Is(released, frontier.ErrFenced) {
		released = c.loseLease(l)
	}
	return archive.JoinDistinct(err, released)
}

// loseLease counts and logs a lease that another worker has taken over. It
// returns nil, because the other worker visits the remaining items.
func (c *crawl) loseLease(l *frontier.Lease) error {
	c.lost.Add(1)
	c.o.Logger.Warn("lease lost", "host", l.Host)
	return nil
}

// extendLease extends the lease regularly until ctx ends. Otherwise the lease
// could expire during a slow commit.
func (h *hostWorker) extendLease(ctx context.Context, l frontier.Lease, cancel context.CancelCauseFunc) {
	every := time.NewTicker(leaseDuration / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			start := time.Now()
			switch err := h.c.queue.Extend(ctx, &l, leaseDuration); {
			case err == nil:
				h.setExpiry(start)
			case ctx.Err() == nil:
				cancel(err)
				return
			}
		}
	}
}

// setExpiry records when the lease ends. The parameter start is a time just
// before the lease was claimed or extended.
func (h *hostWorker) setExpiry(start time.Time) {
	end := start.Add(leaseDuration)
	h.expires.Store(&end)
}

// expired reports whether the lease has ended by the monotonic clock of this
// machine. Another worker of a shared crawl may then visit the host, even if the
// database does not respond to this worker.
func (h *hostWorker) expired() bool {
	return h.c.o.Frontier != "" && time.Now().After(*h.expires.Load())
}

// connections returns the maximum number of parallel connections to host.
func (c *crawl) connections(host string) int {
	switch {
	case c.o.PerHost > 0:
		return c.o.PerHost
	case privateHost(host):
		return 2
	}
	return 1
}

// privateHost reports whether host is localhost or a loopback, private or
// link-local address. Requests to such a host need no pause.
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
	stopping := h.stopping
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
		if h.full() { // wait until the batch has ended
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
		case <-stopping:
			h.queue, h.paused, stopping = nil, true, nil // queued items remain pending
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// idle reports whether no items are queued and no visits are running.
func (h *hostWorker) idle() bool { return len(h.queue) == 0 && h.inFlight == 0 }

func (h *hostWorker) full() bool { return len(h.visits) >= batchSize || h.bytes >= batchBytes }

// collect adds a completed visit to the next batch. If the visit failed because
// of an outage of the server, collect pauses the host.
func (h *hostWorker) collect(ctx context.Context, v *visit, flush *time.Timer) error {
	switch {
	case v == nil:
		return context.Cause(ctx)
	case v.localFailure: // the item remains pending, because the error has a local cause
		v.free()
		return v.err
	case v.left:
		v.free()
		h.leaveHost(v)
		return nil
	}
	reason, err := h.c.tally.count(v)
	if err != nil {
		v.free()
		return err
	}
	if reason != "" {
		v.free()
		v.exclude(reason)
	}
	if until := h.c.outages.pauseUntil(v); !until.IsZero() {
		if err := h.c.queue.BlockHost(ctx, h.lease.Host, h.c.databaseTime(until)); err != nil {
			v.free()
			return err
		}
		h.c.logPause(v, until)
		h.queue, h.paused = nil, true // queued items remain pending
		if v.state == frontier.Pending {
			v.retry = until.Add(time.Second) // visit other items first, because this item may be the cause
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

// finish commits the collected visits when the run ends. The parameter cause is
// the error that ends the run.
func (h *hostWorker) finish(ctx context.Context, cause error) error {
	if h.batch != nil {
		<-h.batch.done()
		cause = archive.JoinDistinct(cause, h.endBatch())
	}
	b := h.newBatch()
	b.store(ctx)
	return archive.JoinDistinct(cause, b.err)
}

// newBatch moves the collected visits into a new batch.
func (h *hostWorker) newBatch() *batch {
	b := &batch{c: h.c, lease: h.lease, visits: h.visits, ended: make(chan struct{})}
	h.visits, h.bytes, h.flushDue = nil, 0, false
	return b
}

// startBatch starts a batch in four cases: enough visits are collected, the
// oldest visit is due, no more visits are expected, or the queue is short.
func (h *hostWorker) startBatch(ctx context.Context) {
	if h.batch != nil || ctx.Err() != nil {
		return
	}
	if !h.paused && !h.c.mayClaim() {
		h.queue, h.paused = nil, true // queued items remain pending
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

// endBatch queues the items that the ended batch has claimed, and returns the
// error of the batch.
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
