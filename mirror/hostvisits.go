package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// visitItems visits items, one at a time, until no items are left or an error
// ends the visits to the host.
func (h *hostWorker) visitItems(ctx context.Context, t *turn) {
	for {
		it, ok := h.next(ctx)
		if !ok {
			return
		}
		h.end(ctx, h.visit(t, it))
	}
}

// next returns the next item. It waits while the only items that could be left
// are in the frontier or in visits of other connections. It returns false if
// the visits have ended.
func (h *hostWorker) next(ctx context.Context) (it frontier.Item, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		h.advance(ctx)
		switch {
		case h.over:
			return it, false
		case len(h.queue) > 0 && !h.overfull():
			it, h.queue = h.queue[0], h.queue[1:]
			h.inFlight++
			return it, true
		}
		h.changed.Wait()
	}
}

// end adds the visit v to the next batch. If v is nil, its item remains pending.
func (h *hostWorker) end(ctx context.Context, v *visit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inFlight--
	if h.discard {
		if v != nil {
			v.free()
		}
		return
	}
	if err := h.collect(ctx, v); err != nil {
		h.fail(err)
	}
}

// advance starts a batch if necessary, and ends the visits if no items are left.
// The caller holds h.mu.
func (h *hostWorker) advance(ctx context.Context) {
	h.startBatch(ctx)
	if h.batch == nil && h.idle() && len(h.visits) == 0 {
		h.endVisits()
	}
}

// fail ends the visits with the error err. The caller holds h.mu.
func (h *hostWorker) fail(err error) {
	if !h.over {
		h.err = err
		h.endVisits()
	}
}

func (h *hostWorker) endVisits() {
	if !h.over {
		h.over = true
		close(h.ended)
		h.changed.Broadcast()
	}
}

// wait waits until the visits have ended or ctx is done. It returns the error
// that ended them.
func (h *hostWorker) wait(ctx context.Context) error {
	select {
	case <-h.ended:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		h.fail(context.Cause(ctx))
	}
	return h.err
}

// flushVisits starts a batch when the oldest collected visit has reached the age
// batchAge.
func (h *hostWorker) flushVisits(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flushDue = true
	h.advance(ctx)
}

// idle reports whether no items are queued and no visits are running.
func (h *hostWorker) idle() bool { return len(h.queue) == 0 && h.inFlight == 0 }

// full reports whether the collected visits are enough for a batch.
func (h *hostWorker) full() bool { return len(h.visits) >= batchSize || h.bytes >= batchBytes }

// overfull reports whether no further visit may start, because the collected
// visits wait for the running batch.
func (h *hostWorker) overfull() bool { return len(h.visits) >= maxCollected || h.bytes >= batchBytes }

// collect adds a completed visit to the next batch. If the visit failed because
// of an outage of the server, collect pauses the host. The caller holds h.mu.
func (h *hostWorker) collect(ctx context.Context, v *visit) error {
	switch {
	case v == nil:
		return context.Cause(ctx)
	case v.localFailure: // the item remains pending, because the error has a local cause
		v.free()
		return v.err
	case v.left:
		v.free()
		h.leaveItem(v)
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
		h.blocked = until // the batch stores it, because h.mu must not be held while the database does not respond
		h.c.logPause(v, until)
		h.pause()
		if v.state == frontier.Pending {
			v.retry = until.Add(time.Second) // visit other items first, because this item may be the cause
		}
	}
	if len(h.visits) == 0 {
		h.flush.Reset(batchAge)
		h.flushDue = false
	}
	h.visits = append(h.visits, v)
	h.bytes += v.size
	h.found += len(v.children)
	return nil
}

// finish commits the collected visits when the run ends, and discards later
// visits. The parameter cause is the error that ends the run.
func (h *hostWorker) finish(ctx context.Context, cause error) error {
	h.mu.Lock()
	running, last := h.batch, h.newBatch(len(h.visits))
	h.discard = true
	h.mu.Unlock()
	if running != nil {
		<-running.ended
		cause = archive.JoinDistinct(cause, running.err)
	}
	last.store(ctx)
	return archive.JoinDistinct(cause, last.err)
}

// newBatch moves the first n collected visits into a new batch.
func (h *hostWorker) newBatch(n int) *batch {
	b := &batch{h: h, visits: h.visits[:n:n], blocked: h.blocked, ended: make(chan struct{})}
	h.blocked = time.Time{}
	for _, v := range b.visits {
		h.bytes -= v.size
		h.found -= len(v.children)
	}
	if h.visits = h.visits[n:]; len(h.visits) == 0 {
		h.visits, h.flushDue = nil, false
	}
	return b
}

// batchLength returns the number of collected visits for the next batch, which
// is at most batchSize. The batch ends with the visit that reaches maxLinks.
func (h *hostWorker) batchLength() int {
	links := 0
	for i, v := range h.visits {
		if links += len(v.children); links >= maxLinks || i+1 == batchSize {
			return i + 1
		}
	}
	return len(h.visits)
}

// startBatch starts a batch in five cases: enough visits are collected, they
// found many links, the oldest visit is due, no more visits are expected, or the
// queue is short and the frontier has items.
func (h *hostWorker) startBatch(ctx context.Context) {
	if h.batch != nil || h.over || ctx.Err() != nil {
		return
	}
	if !h.paused && !h.c.mayClaim() {
		h.pause()
	}
	hungry := len(h.queue) <= claimSize/2 && !h.paused
	due := len(h.visits) > 0 && (h.full() || h.flushDue || h.idle() || h.found >= maxLinks || hungry && h.found >= minLinks)
	if !due && (!hungry || h.frontierEmpty) {
		return
	}
	b := &batch{h: h, ended: make(chan struct{})}
	if due {
		b = h.newBatch(h.batchLength())
	}
	if hungry {
		b.claim = claimSize - len(h.queue)
	}
	h.batch = b
	go b.run(ctx)
}

// endBatch queues the items that the batch b has claimed.
func (h *hostWorker) endBatch(ctx context.Context, b *batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
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
	if b.err != nil {
		h.fail(b.err)
	}
	h.advance(ctx)
	h.changed.Broadcast()
}

// pause ends the requests to the host under this lease. The queued items remain
// pending.
func (h *hostWorker) pause() { h.queue, h.paused = nil, true }
