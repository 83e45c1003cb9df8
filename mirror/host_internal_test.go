package mirror

import (
	"testing"
	"time"
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
