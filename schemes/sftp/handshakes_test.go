package sftp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestHandshakeQueues checks that handshakes with a server wait for each other, and
// that a driver forgets servers without handshakes.
func TestHandshakeQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &driver{}
		var running, most atomic.Int64
		var all sync.WaitGroup
		proceed := make(chan struct{})
		for range 3 * maxHandshakes {
			all.Go(func() {
				release, err := d.acquireHandshake(t.Context(), "a.example:22")
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), running.Add(1)))
				<-proceed
				running.Add(-1)
				release()
			})
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		synctest.Wait()
		if _, err := d.acquireHandshake(ended, "a.example:22"); err != context.Canceled || running.Load() != maxHandshakes {
			t.Errorf("%v, %d handshakes", err, running.Load())
		}
		close(proceed)
		all.Wait()
		for i := range 1000 {
			release, err := d.acquireHandshake(t.Context(), fmt.Sprintf("%d.example:22", i))
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		if n := len(d.handshakes); n > 0 || most.Load() != maxHandshakes {
			t.Errorf("%d servers, at most %d handshakes", n, most.Load())
		}
	})
}
