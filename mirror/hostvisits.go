package mirror

import (
	"context"
	"time"

	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// visitItems visits items, one at a time, until no items are left or an error
// ends the visits to the host.
func (h *hostWorker) visitItems(conn *connection) {
	for {
		it, ok := h.next()
		if !ok {
			return
		}
		h.endVisit(conn.visit(it))
	}
}

// next returns the next item. It waits while the only items that could be left
// are in the frontier or in visits of other connections. It returns false if
// the visits have ended.
func (h *hostWorker) next() (it frontier.Item, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		h.advance()
		switch {
		case h.phase >= hostEnded:
			return it, false
		case len(h.queue) > 0 && !h.collected.overfull():
			it, h.queue = h.queue[0], h.queue[1:]
			h.inFlight++
			return it, true
		}
		h.changed.Wait()
	}
}

// endVisit collects the visit v for the next batch. If v is nil, its item remains
// pending.
func (h *hostWorker) endVisit(v *visit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inFlight--
	switch {
	case h.phase < hostDiscarding:
		if err := h.collect(v); err != nil {
			h.fail(err)
		}
	case v != nil:
		v.free()
	}
}

// advance starts a batch if necessary, and ends the visits if no items are left.
// The caller holds h.mu.
func (h *hostWorker) advance() {
	h.startBatch()
	if h.batch == nil && h.idle() && len(h.collected.visits) == 0 {
		h.setPhase(hostEnded)
	}
}

// setPhase starts a phase, unless it has started before. The caller holds h.mu.
func (h *hostWorker) setPhase(p hostPhase) {
	if p <= h.phase {
		return
	}
	if h.phase < hostEnded && p >= hostEnded {
		close(h.ended)
	}
	h.phase = p
	h.changed.Broadcast()
}

// pause ends the requests to the host under this lease. The queued items remain
// pending. The caller holds h.mu.
func (h *hostWorker) pause() {
	h.queue = nil
	h.setPhase(hostPaused)
}

// fail ends the visits with the error err. The caller holds h.mu.
func (h *hostWorker) fail(err error) {
	if h.phase < hostEnded {
		h.err = err
		h.setPhase(hostEnded)
	}
}

// wait waits until the visits have ended or the run ends. It returns the error
// that ended them.
func (h *hostWorker) wait() error {
	select {
	case <-h.ended:
	case <-h.ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		h.fail(context.Cause(h.ctx))
	}
	return h.err
}

// flushVisits starts a batch when the oldest collected visit has reached the age
// batchAge.
func (h *hostWorker) flushVisits() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collected.old = true
	h.advance()
}

// idle reports whether no items are queued and no visits are running.
func (h *hostWorker) idle() bool { return len(h.queue) == 0 && h.inFlight == 0 }

// collect adds a completed visit to the next batch. If the visit failed because
// of an outage of the server, collect pauses the host. The caller holds h.mu.
func (h *hostWorker) collect(v *visit) error {
	switch {
	case v == nil:
		return context.Cause(h.ctx)
	case v.outcome == visitAborted:
		v.free()
		return v.err
	case v.outcome == visitYielded:
		v.free()
		h.yieldItem(v)
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
	if v.page != nil {
		h.c.tally.countPage(v.page)
	}
	if until := h.c.outages.pauseUntil(v); !until.IsZero() {
		h.collected.blocked = until
		h.c.logPause(v, until)
		h.pause()
		if v.outcome.state() == frontier.Pending {
			v.retry = until.Add(time.Second) // visit other items first, because this item may be the cause
		}
	}
	h.collected.add(v)
	return nil
}

// finish commits the collected visits when the run ends, and discards later
// visits. The parameter cause is the error that ends the run.
func (h *hostWorker) finish(cause error) error {
	h.mu.Lock()
	running, last := h.batch, h.newBatch(len(h.collected.visits))
	h.setPhase(hostDiscarding)
	h.mu.Unlock()
	if running != nil {
		<-running.ended
		cause = archive.JoinDistinct(cause, running.err)
	}
	last.store(h.ctx)
	return archive.JoinDistinct(cause, last.err)
}

// newBatch moves the first n collected visits into a new batch.
func (h *hostWorker) newBatch(n int) *batch {
	b := &batch{h: h, ended: make(chan struct{})}
	b.visits, b.blocked = h.collected.take(n)
	return b
}

// startBatch starts a batch if the collected visits must be committed, or if the
// queue is short and the frontier may have items.
func (h *hostWorker) startBatch() {
	if h.batch != nil || h.phase >= hostEnded || h.ctx.Err() != nil {
		return
	}
	if h.phase < hostPaused && !h.c.mayClaim() {
		h.pause()
	}
	claims := h.phase < hostPaused && len(h.queue) <= claimSize/2
	commits := h.mustCommit(claims)
	if !commits && (!claims || h.frontierEmpty) {
		return
	}
	n := 0
	if commits {
		n = h.collected.batchLength(h.linkLimit())
	}
	h.batch = h.newBatch(n)
	if claims {
		h.batch.claim = claimSize - len(h.queue)
	}
	go h.batch.run(h.ctx)
}

// mustCommit reports whether a batch with collected visits must start. The
// parameter claims is true if the worker needs more items.
func (h *hostWorker) mustCommit(claims bool) bool {
	switch c := &h.collected; {
	case len(c.visits) == 0:
		return false
	case c.full(), c.old, c.links >= h.linkLimit():
		return true
	case h.idle(): // no more visits are expected
		return true
	default: // the links of the visits may be the next items
		return claims && c.links >= minLinks
	}
}

// linkLimit returns the number of links with which a batch ends.
func (h *hostWorker) linkLimit() int {
	if len(h.queue) > claimSize/2 {
		return maxManyLinks
	}
	return maxLinks
}

// endBatch queues the items that the batch b has claimed.
func (h *hostWorker) endBatch(b *batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batch = nil
	switch {
	case b.claim > 0:
		h.frontierEmpty = len(b.claimed) == 0
	case len(b.visits) > 0:
		h.frontierEmpty = false
	}
	if h.phase < hostPaused {
		h.queue = append(h.queue, b.claimed...)
	}
	if b.err != nil {
		h.fail(b.err)
	}
	h.advance()
	h.changed.Broadcast()
}
