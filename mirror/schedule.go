package mirror

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// visitPending visits URLs until no URL is pending. It visits each leased host
// in a separate goroutine and waits for all goroutines. Several workers may
// call it concurrently.
func (c *crawl) visitPending(ctx context.Context, worker string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := newDeadline(func() { cancel(ErrLimit) })
	defer end.timer.Stop()
	if err := c.setDeadline(ctx, end); err != nil {
		return err
	}
	places := make(chan struct{}, c.o.Hosts)
	ended := make(chan struct{}, 1)
	var hosts, watcher sync.WaitGroup
	watching, stopWatching := context.WithCancel(ctx)
	watcher.Go(func() {
		if err := c.watch(watching, end); err != nil {
			cancel(err)
		}
	})
	var waits waits
	watcher.Go(func() {
		select {
		case <-c.o.Stop:
			c.stopHosts()
		case <-watching.Done():
		}
	})
	for ctx.Err() == nil && !c.stopped() {
		before := time.Now()
		var leases []*frontier.Lease
		var err error
		claims := c.mayClaim()
		if claims {
			leases, err = c.queue.Claim(ctx, worker, c.o.Hosts-len(places), claimSize, leaseDuration)
		}
		if err != nil {
			cancel(err)
			break
		}
		if len(leases) > 0 {
			c.wait.Store(nil)
		}
		for _, l := range leases {
			c.measureSkew(before, l)
			c.tally.setHost(l)
			places <- struct{}{}
			hosts.Go(func() {
				if err := c.visitHost(ctx, l, before); err != nil {
					cancel(err)
				}
				<-places
				select {
				case ended <- struct{}{}:
				default:
				}
			})
		}
		if len(leases) > 0 && len(places) < c.o.Hosts {
			continue
		}
		done, err := c.waitForWork(ctx, ended, len(places) > 0 || !claims, &waits)
		if err != nil {
			cancel(err)
		}
		if done {
			break
		}
	}
	hosts.Wait()
	stopWatching()
	watcher.Wait()
	if ctx.Err() == nil && c.stopped() {
		return ErrStopped
	}
	return context.Cause(ctx)
}

// pollInterval is the maximum time between two checks for hosts whose pause is
// over.
const pollInterval = 500 * time.Millisecond

// waitForWork waits until a host may be due for requests. The result done is
// true if no URL will become due in this run. If this is because all remaining
// hosts are paused, the error is ErrPaused. If hosts are yielded to other workers,
// the error is ErrDenied.
func (c *crawl) waitForWork(ctx context.Context, ended <-chan struct{}, busy bool, w *waits) (done bool, err error) {
	wait := pollInterval
	if !busy {
		stats, err := c.checkWaits(ctx, w)
		if err != nil {
			return true, err
		}
		switch {
		case stats.States[frontier.Pending] == stats.Postponed:
			return true, nil
		case stats.Open == 0 && c.yieldsHosts():
			if c.reclaimYielded() {
				return false, nil
			}
			return true, ErrDenied
		case stats.Open == 0 && stats.Paused > 0:
			return true, ErrPaused
		}
		if !stats.NextDue.IsZero() {
			// Another worker may release a host earlier.
			wait = min(max(stats.NextDue.Sub(stats.Time), 10*time.Millisecond), 2*pollInterval)
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-c.o.Stop:
	case <-ctx.Done():
	}
	return false, nil
}
