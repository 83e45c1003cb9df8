package mirror

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/frontier"
)

// Batches: what is claimed at a time, and what is committed together at the
// latest.
const (
	atOnce     = 256
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// host is a lease at work. It belongs to the goroutine of work.
type host struct {
	m     *mirror
	lease *frontier.Lease
	queue []frontier.Item
	todo  chan frontier.Item
	done  chan *visit

	under int // visits that have not come back
	batch []*visit
	bytes int64
	dry   bool // the frontier had nothing more, and nothing was committed since
}

// host works off one lease: its items go to as many visitors as the host may be
// asked at a time, and what they brought is committed in batches.
func (m *mirror) host(ctx context.Context, l *frontier.Lease) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := &host{m: m, lease: l, queue: l.Items, todo: make(chan frontier.Item), done: make(chan *visit, batchSize)}
	visits, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range m.connections(l.Host) {
		workers.Go(func() {
			for it := range h.todo {
				h.done <- m.visit(visits, it)
			}
		})
	}
	workers.Go(func() { m.hold(visits, *l, cancel) })
	err := h.work(ctx)
	stop()
	close(h.todo)
	go func() { workers.Wait(); close(h.done) }()
	for v := range h.done { // ctx has ended, or something failed: these stay pending
		if v != nil {
			v.free()
		}
	}
	if errors.Is(err, frontier.ErrFenced) {
		return nil // whoever has the host now visits what is left
	}
	return also(err, m.front.Release(context.WithoutCancel(ctx), l, time.Time{}))
}

// hold keeps the lease while its host is worked on, however long a commit takes.
func (m *mirror) hold(ctx context.Context, l frontier.Lease, cancel context.CancelCauseFunc) {
	every := time.NewTicker(lease / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if err := m.front.Extend(ctx, &l, lease); err != nil && ctx.Err() == nil {
				cancel(err)
				return
			}
		}
	}
}

// connections is how many a host is asked over at a time.
func (m *mirror) connections(host string) int {
	switch {
	case m.PerHost > 0:
		return m.PerHost
	case Near(host):
		return 2
	}
	return 1
}

// Near reports whether a host, as URLs write it, is this machine or in a
// private network: one that needs no sparing.
func Near(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast())
}

func (h *host) work(ctx context.Context) error {
	flush := time.NewTimer(batchAge)
	defer flush.Stop()
	for {
		if err := h.refill(ctx); err != nil {
			return err
		}
		if len(h.queue) == 0 && h.under == 0 {
			if len(h.batch) == 0 {
				return nil
			}
			if err := h.commit(ctx); err != nil {
				return err
			}
			continue
		}
		todo, next := h.todo, frontier.Item{}
		if len(h.queue) > 0 {
			next = h.queue[0]
		} else {
			todo = nil
		}
		select {
		case todo <- next:
			h.queue = h.queue[1:]
			h.under++
		case v := <-h.done:
			h.under--
			if err := h.take(ctx, v, flush); err != nil {
				return err
			}
		case <-flush.C:
			if err := h.commit(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return h.end(ctx, context.Cause(ctx))
		}
	}
}

// refill asks for more items before the last is handed out.
func (h *host) refill(ctx context.Context) error {
	if h.dry || len(h.queue) > atOnce/4 || ctx.Err() != nil {
		return nil
	}
	more, err := h.m.front.More(ctx, h.lease, atOnce-len(h.queue))
	h.dry = len(more) == 0
	h.queue = append(h.queue, more...)
	return err
}

// take puts a visit into the batch, which it commits when it is large or old.
func (h *host) take(ctx context.Context, v *visit, flush *time.Timer) error {
	switch {
	case v == nil:
		return h.end(ctx, context.Cause(ctx))
	case v.local: // it stays pending: nothing was wrong with it
		v.free()
		return h.end(ctx, v.err)
	}
	why, err := h.m.admit(v)
	if err != nil {
		v.free()
		return h.end(ctx, err)
	}
	if why != "" {
		v.free()
		v.out(why)
	}
	if until := h.m.pause(v); !until.IsZero() {
		if err := h.m.front.BlockHost(ctx, h.lease.Host, until); err != nil {
			return err
		}
		h.queue, h.dry = nil, true // what was handed out and not asked for stays pending
		if v.state == frontier.Pending {
			v.retry = until.Add(time.Second) // others first: it may be this one alone
		}
	}
	if len(h.batch) == 0 {
		flush.Reset(batchAge)
	}
	h.batch = append(h.batch, v)
	h.bytes += v.size
	if len(h.batch) >= batchSize || h.bytes >= batchBytes {
		return h.commit(ctx)
	}
	return nil
}

// end commits what was brought before the run has to end, by cause.
func (h *host) end(ctx context.Context, cause error) error {
	return also(cause, h.commit(ctx))
}

// also is both errors. One of the same class as err says nothing more: a disk
// that is full is full for all.
func also(err, more error) error {
	if err != nil && fetch.FaultOf(err) == fetch.FaultOf(fault(more)) {
		return err
	}
	return errors.Join(err, more)
}

func (h *host) commit(ctx context.Context) error {
	if len(h.batch) == 0 {
		return nil
	}
	err := h.m.commit(ctx, h.lease, h.batch)
	for _, v := range h.batch {
		v.free()
	}
	h.batch, h.bytes, h.dry = h.batch[:0], 0, false
	if err != nil {
		return err
	}
	return h.m.limits()
}
