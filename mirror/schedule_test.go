package mirror

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// waitingFrontier is a frontier with one host that waits.
type waitingFrontier struct {
	frontier.Frontier
	stats frontier.Stats
}

func (f waitingFrontier) Stats(context.Context) (frontier.Stats, error) { return f.stats, nil }

// TestWaitForWorkClock checks that the pause of a host is measured by the clock
// of the database, not by the clock of the worker.
func TestWaitForWorkClock(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"equal": 0, "ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				database := time.Now()
				c := &crawl{queue: waitingFrontier{stats: frontier.Stats{
					States: map[frontier.State]int64{frontier.Pending: 1}, Open: 1,
					Time: database, NextDue: database.Add(300 * time.Millisecond),
				}}}
				c.o.Now = func() time.Time { return time.Now().Add(skew) }
				done, err := c.waitForWork(t.Context(), nil, false, new(waits))
				if waited := time.Since(database); done || err != nil || waited != 300*time.Millisecond {
					t.Errorf("waited %v: %v, %v", waited, done, err)
				}
			})
		})
	}
}
