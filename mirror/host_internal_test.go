package mirror

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestExpiry checks that a lease ends for its worker before it ends in the database,
// which stores times in microseconds. Otherwise another worker could visit the host
// at the same time.
func TestExpiry(t *testing.T) {
	for _, nanosecond := range []int{0, 1, 999} {
		start := time.Date(2026, 1, 1, 0, 0, 0, nanosecond, time.UTC)
		var h hostWorker
		h.setExpiry(start)
		if stored := time.UnixMicro(start.UnixMicro()).Add(leaseDuration); h.expires.Load().After(stored) {
			t.Errorf("nanosecond %d: the lease ends at %v, and at %v in the database", nanosecond, h.expires.Load(), stored)
		}
	}
}

// TestExpiryDuringPause checks that a visit that started before the end of the lease
// sends no request after it. A host with several connections pauses between the
// requests of all of them, so that a visit can wait for several pauses.
func TestExpiryDuringPause(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared frontier.Shared
		lease  time.Duration // that remains after the pause
		want   bool          // the request is sent
	}{
		{name: "lease has ended", shared: struct{ frontier.Shared }{}, lease: -time.Second},
		{name: "lease has not ended", shared: struct{ frontier.Shared }{}, lease: time.Hour, want: true},
		{name: "crawl that is not shared", lease: -time.Second, want: true},
	} {
		h := newHostWorker(&crawl{shared: c.shared}, &frontier.Lease{})
		h.visits = t.Context()
		h.setExpiry(time.Now())
		n := h.newConnection()
		if !n.startVisit() {
			t.Fatalf("%s: the visit did not start", c.name)
		}
		h.setExpiry(time.Now().Add(c.lease - leaseDuration))
		if got := n.startRequest(); got != c.want || (n.visits.Err() == nil) != c.want {
			t.Errorf("%s: a request is sent: %t; the visits end with %v", c.name, got, n.visits.Err())
		}
	}
}
