package mirror

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
)

// Batches: what is claimed at a time, and what is committed together at the
// latest.
const (
	atOnce     = 512
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// host is a lease at work. It belongs to the goroutine of work; the lease, while
// a trip is under way, to that.
type host struct {
	m     *mirror
	lease *frontier.Lease
	queue []frontier.Item
	todo  chan frontier.Item
	done  chan *visit

	under  int // visits that have not come back
	batch  []*visit
	bytes  int64
	old    bool  // the batch has waited long enough
	trip   *trip // nil: none is under way
	dry    bool  // the frontier had nothing more, and nothing was committed since
	paused bool  // nothing more is asked of the host under this lease
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
	if err != nil {
		err = h.end(ctx, err)
	}
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
		h.depart(ctx)
		if h.trip == nil && h.idle() && len(h.batch) == 0 {
			return nil
		}
		todo, done, next := h.todo, h.done, frontier.Item{}
		if len(h.queue) > 0 {
			next = h.queue[0]
		} else {
			todo = nil
		}
		if h.full() { // until the trip is back
			done = nil
		}
		select {
		case todo <- next:
			h.queue = h.queue[1:]
			h.under++
		case v := <-done:
			h.under--
			if err := h.take(ctx, v, flush); err != nil {
				return err
			}
		case <-h.trip.back():
			if err := h.arrive(); err != nil {
				return err
			}
		case <-flush.C:
			h.old = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// idle reports whether nothing is left to be visited that is known here.
func (h *host) idle() bool { return len(h.queue) == 0 && h.under == 0 }

func (h *host) full() bool { return len(h.batch) >= batchSize || h.bytes >= batchBytes }

// take puts a visit into the batch.
func (h *host) take(ctx context.Context, v *visit, flush *time.Timer) error {
	switch {
	case v == nil:
		return context.Cause(ctx)
	case v.local: // it stays pending: nothing was wrong with it
		v.free()
		return v.err
	}
	why, err := h.m.admit(v)
	if err != nil {
		v.free()
		return err
	}
	if why != "" {
		v.free()
		v.out(why)
	}
	if until := h.m.pause(v); !until.IsZero() {
		if err := h.m.front.BlockHost(ctx, h.lease.Host, until); err != nil {
			v.free()
			return err
		}
		h.queue, h.paused = nil, true // what was handed out and not asked for stays pending
		if v.state == frontier.Pending {
			v.retry = until.Add(time.Second) // others first: it may be this one alone
		}
	}
	if len(h.batch) == 0 {
		flush.Reset(batchAge)
		h.old = false
	}
	h.batch = append(h.batch, v)
	h.bytes += v.size
	return nil
}

// end commits what was brought before the run has to end, by cause.
func (h *host) end(ctx context.Context, cause error) error {
	if h.trip != nil {
		<-h.trip.back()
		cause = also(cause, h.arrive())
	}
	t := h.load()
	t.commit(ctx)
	return also(cause, t.err)
}

// also is both errors. One of the same class as err says nothing more: a disk
// that is full is full for all.
func also(err, more error) error {
	switch {
	case err == nil:
		return more
	case more == nil, fetch.FaultOf(err) == fetch.FaultOf(fault(more)):
		return err
	}
	return errors.Join(err, more)
}
