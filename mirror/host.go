package mirror

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
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

// maxCollected is the number of collected visits at which the connections wait
// for the running batch. It exceeds batchSize, so that they rarely wait.
const maxCollected = 3 * batchSize

// Links are stored in small batches, so that the connections need not wait for
// the links of many pages. A batch starts when the collected visits have found
// maxLinks links, or minLinks if the queue is short. Each batch ends with the
// visit that reaches maxLinks.
const (
	minLinks = claimSize / 4
	maxLinks = 2 * claimSize
)

// privateConnections is the default number of connections to a host of this
// machine or of a private network.
const privateConnections = 4

// leaseDuration is the time after which a lease expires unless it is extended.
// Other workers can then claim the host, for example after a crash.
const leaseDuration = time.Minute

// A hostWorker visits the URLs of one host under a lease. Each connection has a
// goroutine that takes an item, visits its URL and adds the visit to the next
// batch. While a batch runs, the batch owns the lease.
type hostWorker struct {
	c       *crawl
	lease   *frontier.Lease
	flush   *time.Timer
	ended   chan struct{}             // closed when no items are left, or after the first error
	expires atomic.Pointer[time.Time] // end of the lease by the local clock
	connect func()                    // starts another connection

	mu            sync.Mutex // guards the following fields
	changed       sync.Cond  // signals that items are available, or that the visits have ended
	queue         []frontier.Item
	inFlight      int // number of visits that have not ended
	visits        []*visit
	bytes         int64     // sizes of visits
	found         int       // number of links that visits found
	flushDue      bool      // if true, the oldest visit is older than batchAge
	batch         *batch    // nil if no batch runs
	frontierEmpty bool      // if true, the last claim returned no items, and no visit was committed since
	paused        bool      // if true, the host gets no more requests under this lease
	over          bool      // if true, ended is closed
	discard       bool      // if true, visits that end are discarded
	blocked       time.Time // end of the pause of the host that the next batch stores, or zero
	err           error     // first error

	left      map[leftRequest]bool // requests of items that are left to other workers
	leftItems int                  // number of these items
	leftSeed  string               // URL that the command lacks to visit the first of these items

	connections int           // number of connections that were started
	turns       []*turn       // a turn for each connection
	crawlDelay  time.Duration // longest Crawl-delay of the host under this lease
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
	h := c.newHostWorker(l)
	h.flush = time.AfterFunc(batchAge, func() { h.flushVisits(ctx) })
	defer h.flush.Stop()
	c.visited.Store(l.Host, h)
	defer c.visited.Delete(l.Host)
	h.setExpiry(claimed)
	visits, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	h.connect = func() {
		t := h.newTurn(visits)
		workers.Go(func() { h.visitItems(ctx, t) })
	}
	h.setConnections(c.connections(l.Host))
	workers.Go(func() { h.extendLease(visits, *l, cancel) })
	err := h.wait(ctx)
	if err != nil {
		err = h.finish(ctx, err)
	}
	stop()
	workers.Wait()
	if c.archive.Uploads() && errors.Is(err, fetch.DiskFull) {
		err = c.pauseFull(err) // the items remain pending
	}
	if errors.Is(err, frontier.ErrFenced) {
		return c.loseLease(l)
	}
	err = archive.JoinDistinct(err, h.leaveHost())
	released := c.queue.Release(c.ending, l, h.nextRequest())
	if errors.Is(released, frontier.ErrFenced) {
		released = c.loseLease(l)
	}
	return archive.JoinDistinct(err, released)
}

func (c *crawl) newHostWorker(l *frontier.Lease) *hostWorker {
	h := &hostWorker{c: c, lease: l, queue: l.Items, ended: make(chan struct{})}
	h.changed.L = &h.mu
	return h
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
	return h.c.shared != nil && time.Now().After(*h.expires.Load())
}

// connections returns the maximum number of parallel connections to host.
func (c *crawl) connections(host string) int {
	switch {
	case c.o.PerHost > 0:
		return c.o.PerHost
	case c.isPrivate(host):
		return privateConnections
	}
	return 1
}

// setConnections starts connections until the host has n of them. It must be
// called by visitHost or by a visit.
func (h *hostWorker) setConnections(n int) {
	h.mu.Lock()
	more := max(n-h.connections, 0)
	h.connections += more
	h.mu.Unlock()
	for range more {
		h.connect()
	}
}
