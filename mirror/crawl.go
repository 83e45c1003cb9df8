package mirror

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
)

// drain visits until nothing is pending. Each leased host has a goroutine of
// its own, and ends before drain returns. Several workers may drain at once.
func (m *mirror) drain(ctx context.Context, worker string) error {
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
		leases, err := m.front.Claim(ctx, worker, m.Hosts-len(places), atOnce, lease)
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
		if stats.States[frontier.Pending] == stats.Parked {
			return true, nil
		}
		if !stats.Next.IsZero() {
			wait = min(max(stats.Next.Sub(m.Now()), 10*time.Millisecond), 2*idle) // another worker may be done before
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
