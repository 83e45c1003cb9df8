package sessions

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueueCleanup tests that unused keys use no memory.
func TestQueueCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{IdleTimeout: 10 * time.Second}
		for i := range 100 {
			key := strconv.Itoa(i)
			p.Put(key, new(conn))
			if _, ok := p.popIdle(key); !ok {
				t.Fatalf("no session for %s", key)
			}
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if len(p.idle)+len(p.servers) > 0 || p.count != 0 || p.closerRunning {
			t.Errorf("%d keys, %d sessions, goroutine running: %v", len(p.idle), p.count, p.closerRunning)
		}
	})
}
