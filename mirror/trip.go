package mirror

import (
	"context"

	"github.com/anyurl/fetch/internal/frontier"
)

// trip is a batch on its way into the archive, beside which the visits go on,
// and the items that it brings back. One is under way at a time for each host.
type trip struct {
	host  *host
	batch []*visit
	want  int // items
	ended chan struct{}

	more []frontier.Item
	err  error
}

// back is closed when t has ended. A nil trip never does.
func (t *trip) back() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.ended
}

// load takes the batch of h.
func (h *host) load() *trip {
	t := &trip{host: h, batch: h.batch, ended: make(chan struct{})}
	h.batch, h.bytes, h.old = nil, 0, false
	return t
}

// depart begins a trip where there is a reason: a batch that is full, old or the
// last, or a queue that runs low.
func (h *host) depart(ctx context.Context) {
	if h.trip != nil || ctx.Err() != nil {
		return
	}
	due := len(h.batch) > 0 && (h.full() || h.old || h.idle())
	hungry := len(h.queue) <= atOnce/2 && !h.paused
	if !due && (!hungry || h.dry) {
		return
	}
	t := &trip{host: h, ended: make(chan struct{})}
	if due {
		t = h.load()
	}
	if hungry {
		t.want = atOnce - len(h.queue)
	}
	h.trip = t
	go t.run(ctx)
}

func (t *trip) run(ctx context.Context) {
	defer close(t.ended)
	if t.commit(ctx); t.err == nil && t.want > 0 {
		t.more, t.err = t.host.m.front.More(ctx, t.host.lease, t.want)
	}
}

// commit makes the batch part of the archive, and frees it.
func (t *trip) commit(ctx context.Context) {
	if len(t.batch) == 0 {
		return
	}
	t.err = t.host.m.commit(ctx, t.host.lease, t.batch)
	for _, v := range t.batch {
		v.free()
	}
	if t.err == nil {
		t.err = t.host.m.limits()
	}
}

// arrive takes what the trip that ended has brought back.
func (h *host) arrive() error {
	t := h.trip
	h.trip = nil
	switch {
	case t.want > 0:
		h.dry = len(t.more) == 0
	case len(t.batch) > 0:
		h.dry = false
	}
	if !h.paused {
		h.queue = append(h.queue, t.more...)
	}
	return t.err
}
