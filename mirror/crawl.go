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

// drain visits until nothing is pending. Each leased host has a goroutine of
// its own, and ends before drain returns.
func (m *mirror) drain(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if m.Limits.Time > 0 {
		timer := time.AfterFunc(m.Limits.Time-m.Now().Sub(m.started), func() { cancel(ErrLimit) })
		defer timer.Stop()
	}
	places := make(chan struct{}, m.Hosts)
	ended := make(chan struct{}, 1)
	var hosts sync.WaitGroup
	for ctx.Err() == nil {
		leases, err := m.front.Claim(ctx, m.worker, m.Hosts-len(places), atOnce, lease)
		if err != nil {
			cancel(err)
			break
		}
		for _, l := range leases {
			places <- struct{}{}
			hosts.Go(func() {
				if err := m.host(ctx, l); err != nil {
					cancel(err)
				}
				<-places
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		if len(leases) > 0 && len(places) < m.Hosts {
			continue
		}
		done, err := m.rest(ctx, ended, len(places) > 0)
		if err != nil {
			cancel(err)
		}
		if done {
			break
		}
	}
	hosts.Wait()
	return context.Cause(ctx)
}

// idle bounds how long a host that became due while others are asked waits to
// be noticed.
const idle = 500 * time.Millisecond

// rest waits for something to do, and reports whether there will be nothing.
func (m *mirror) rest(ctx context.Context, ended <-chan struct{}, busy bool) (done bool, err error) {
	wait := idle
	if !busy {
		stats, err := m.front.Stats(ctx)
		if err != nil {
			return true, err
		}
		if stats.States[frontier.Pending] == 0 {
			return true, nil
		}
		if !stats.Next.IsZero() {
			wait = min(max(stats.Next.Sub(m.Now()), 10*time.Millisecond), lease)
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-ctx.Done():
	}
	return false, nil
}

// Batches: what is claimed at a time, and what is committed together at the
// latest.
const (
	atOnce     = 256
	batchSize  = 256
	batchBytes = 16 << 20
	batchAge   = 100 * time.Millisecond
)

// host works off one lease: its items go to as many visitors as the host may be
// asked at a time, and what they brought is committed in batches.
func (m *mirror) host(ctx context.Context, l *frontier.Lease) error {
	h := &host{m: m, lease: l, queue: l.Items, todo: make(chan frontier.Item), done: make(chan *visit, batchSize)}
	visits, stop := context.WithCancel(ctx)
	var visitors sync.WaitGroup
	for range m.connections(l.Host) {
		visitors.Go(func() {
			for it := range h.todo {
				h.done <- m.visit(visits, it)
			}
		})
	}
	err := h.work(ctx)
	stop()
	close(h.todo)
	go func() { visitors.Wait(); close(h.done) }()
	for v := range h.done { // ctx has ended, or something failed: these stay pending
		if v != nil {
			v.free()
		}
	}
	if errors.Is(err, frontier.ErrFenced) {
		return nil // whoever has the host now visits what is left
	}
	return errors.Join(err, m.front.Release(context.WithoutCancel(ctx), l, time.Time{}))
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

func (h *host) work(ctx context.Context) error {
	flush := time.NewTimer(batchAge)
	defer flush.Stop()
	extend := time.NewTicker(lease / 3)
	defer extend.Stop()
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
		case <-extend.C:
			if err := h.m.front.Extend(ctx, h.lease, lease); err != nil {
				return err
			}
		case <-ctx.Done():
			return h.leave(ctx)
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
	if v == nil {
		return h.leave(ctx)
	}
	if len(h.batch) == 0 {
		flush.Reset(batchAge)
	}
	h.batch = append(h.batch, v)
	h.bytes += v.size
	if v.local {
		return errors.Join(h.commit(ctx), v.err)
	}
	if fetch.FaultOf(v.err) == fetch.TryLater {
		if err := h.m.front.BlockHost(ctx, h.lease.Host, v.retry); err != nil {
			return err
		}
	}
	if len(h.batch) >= batchSize || h.bytes >= batchBytes {
		return h.commit(ctx)
	}
	return nil
}

// leave commits what was brought before ctx ended.
func (h *host) leave(ctx context.Context) error {
	err := h.commit(context.WithoutCancel(ctx))
	return errors.Join(err, context.Cause(ctx))
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
