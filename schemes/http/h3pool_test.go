package http

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
)

// TestH3PoolSharesErrors checks that concurrent requests to a server that does
// not answer wait for one attempt, and that a canceled request does not stop the
// others.
func TestH3PoolSharesErrors(t *testing.T) {
	for name, c := range map[string]struct {
		cancel bool // cancel the context of the request that connects
		dials  int32
	}{"failed": {false, 1}, "canceled": {true, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var p h3pool
			var dials atomic.Int32
			failed := fetch.Timeout.Errorf("no answer")
			first, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			dial := func() (*h3conn, error) {
				if dials.Add(1) == 1 {
					<-release
				}
				return nil, failed
			}
			var all sync.WaitGroup
			get := func(ctx context.Context) {
				if _, _, err := p.get(ctx, "key", nil, dial); err == nil {
					t.Errorf("%s: no error", name)
				}
			}
			all.Go(func() { get(first) })
			synctest.Wait()
			for range 10 {
				all.Go(func() { get(t.Context()) })
			}
			synctest.Wait()
			if c.cancel {
				cancel()
			}
			close(release)
			all.Wait()
			cancel()
			if n := dials.Load(); n < c.dials || !c.cancel && n != c.dials {
				t.Errorf("%s: %d attempts, want %d", name, n, c.dials)
			}
			if len(p.dialing) > 0 || len(p.conns["key"]) > 0 {
				t.Errorf("%s: left %v and %v", name, p.dialing, p.conns)
			}
		})
	}
}
