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

// privateConnections is the default number of connections to a host of this
// machine or of a private network.
const privateConnections = 4

// leaseDuration is the time after which a lease expires unless it is extended.
// Other workers can then claim the host, for example after a crash.
const leaseDuration = time.Minute

// A hostWorker visits the URLs of one host under a lease. Each connection has a
// goroutine that takes an item, visits its URL and collects the visit for the next
// batch. While a batch runs, the batch owns the lease.
type hostWorker struct {
	c       *crawl
	lease   *frontier.Lease
	ctx     context.Context           // context of the batches
	visits  context.Context           // context of the visits, which ends after the last batch
	running sync.WaitGroup            // goroutines of the connections and of extendLease
	ended   chan struct{}             // closed in the phase hostEnded
	expires atomic.Pointer[time.Time] // end of the lease by the local clock

	mu            sync.Mutex // guards the following fields
	changed       sync.Cond  // signals that items are available, or that the phase has changed
	phase         hostPhase
	err           error // error that ended the visits, or nil
	queue         []frontier.Item
	frontierEmpty bool // if true, the last claim returned no items, and no visit was committed since
	inFlight      int  // number of visits that have not ended
	collected     collectedVisits
	batch         *batch // nil if no batch runs
	yielded       yieldedItems
	connections   []*connection
	crawlDelay    time.Duration // longest Crawl-delay of the host under this lease
}

// A hostPhase is the phase of a hostWorker. The phases follow each other.
type hostPhase uint8

const (
	hostVisiting   hostPhase = iota // visits items
	hostPaused                      // starts no visits under this lease; other items of the host remain pending
	hostEnded                       // no visit remains to be committed, or an error has ended the visits
	hostDiscarding                  // discards the visits that end
)

// visitHost visits the URLs of the leased host and commits the visits in
// batches. It uses as many connections as Options allow for the host. The
// parameter claimed is a time just before the lease was claimed.
func (c *crawl) visitHost(ctx context.Context, l *frontier.Lease, claimed time.Time) error {
	c.leases.Add(1)
	defer c.leases.Add(-1)
	c.logLease(l)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	visits, stop := context.WithCancel(ctx)
	defer stop()
	h := newHostWorker(c, l)
	h.ctx, h.visits = ctx, visits
	h.collected.timer = time.AfterFunc(batchAge, h.flushVisits)
	defer h.collected.timer.Stop()
	c.visited.Store(l.Host, h)
	defer c.visited.Delete(l.Host)
	if c.stopped() { // stopHosts may have run before the host was stored
		h.stop()
	}
	h.setExpiry(claimed)
	h.setConnections(c.connections(l.Host))
	h.running.Go(func() { h.extendLease(*l, cancel) })
	err := h.wait()
	if err != nil {
		err = h.finish(err)
	}
	stop()
	h.running.Wait()
	return h.release(err)
}

func newHostWorker(c *crawl, l *frontier.Lease) *hostWorker {
	h := &hostWorker{c: c, lease: l, queue: l.Items, ended: make(chan struct{})}
	h.changed.L = &h.mu
	return h
}

// release ends the lease after the visits, which ended with the error err. It
// returns nil if another worker has taken over the lease.
func (h *hostWorker) release(err error) error {
	c := h.c
	if c.archive.Uploads() && errors.Is(err, fetch.DiskFull) {
		err = c.pauseFull(err) // the items remain pending
	}
	if errors.Is(err, frontier.ErrFenced) {
		return c.loseLease(h.lease)
	}
	err = archive.JoinDistinct(err, h.yieldHost())
	released := c.queue.Release(c.ending, h.lease, h.nextRequest())
	if errors.Is(released, frontier.ErrFenced) {
		released = c.loseLease(h.lease)
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

// extendLease extends the lease regularly until the visits end. Otherwise the
// lease could expire during a slow commit.
func (h *hostWorker) extendLease(l frontier.Lease, cancel context.CancelCauseFunc) {
	every := time.NewTicker(leaseDuration / 3)
	defer every.Stop()
	for {
		select {
		case <-h.visits.Done():
			return
		case <-every.C:
			start := time.Now()
			switch err := h.c.queue.Extend(h.visits, &l, leaseDuration); {
			case err == nil:
				h.setExpiry(start)
			case h.visits.Err() == nil:
				cancel(err)
				return
			}
		}
	}
}

// setExpiry records when the lease ends. The parameter start is a time just
// before the lease was claimed or extended. The database stores times in
// microseconds, so that the lease can end earlier there by almost one.
func (h *hostWorker) setExpiry(start time.Time) {
	end := start.Add(leaseDuration - time.Microsecond)
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
	defer h.mu.Unlock()
	for len(h.connections) < n {
		conn := h.newConnection()
		h.connections = append(h.connections, conn)
		h.running.Go(func() { h.visitItems(conn) })
	}
}
