package pool

import (
	"io"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueuesEnd: keys that nobody asks for any more take no memory.
func TestQueuesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[io.Closer]{Idle: 10 * time.Second}
		for i := range 100 {
			key := strconv.Itoa(i)
			p.Put(key, io.NopCloser(nil))
			if _, ok := p.Get(key); !ok {
				t.Fatalf("nothing for %s", key)
			}
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if len(p.waiting) > 0 || p.count != 0 || p.watching {
			t.Errorf("%d queues, %d sessions, watched: %v", len(p.waiting), p.count, p.watching)
		}
	})
}
