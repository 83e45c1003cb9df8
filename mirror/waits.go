package mirror

import (
	"context"
	"fmt"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// maxPause is the longest pause after a failed request: the maximum of backoff,
// which is also the maximum of Retry-After, and the second that collect adds.
const maxPause = 10*time.Minute + time.Second

// reportedWait is the minimum duration of a wait that is reported.
const reportedWait = 10 * time.Second

// waits describes the waiting times of a run that visits no host.
type waits struct {
	checked time.Time // end of the most recent wait that was checked
}

// checkWaits returns the statistics of the frontier when no host is visited. If
// the run must wait for longer than any pause lasts, the clock was set back, and
// checkWaits shortens the waits. It reports each long wait once.
func (c *crawl) checkWaits(ctx context.Context, w *waits) (frontier.Stats, error) {
	stats, err := c.queue.Stats(ctx)
	if err != nil || stats.NextDue.IsZero() || stats.NextDue.Equal(w.checked) {
		return stats, err
	}
	if longest := maxPause + max(c.o.Delay, publicDelay); stats.NextDue.Sub(stats.Time) > longest {
		if err := c.queue.LimitWaits(ctx, longest); err != nil {
			return stats, err
		}
		if stats, err = c.queue.Stats(ctx); err != nil {
			return stats, err
		}
	}
	w.checked = stats.NextDue
	if wait := stats.NextDue.Sub(stats.Time); wait >= reportedWait && stats.Waiting == stats.Open {
		c.report.waiting(stats.NextHost, c.localTime(stats.NextDue), wait, stats.Waiting-1)
	}
	return stats, nil
}

// waiting reports an event when the run sends no request before the given time.
// The parameter others is the number of further hosts that wait.
func (r *report) waiting(host string, until time.Time, wait time.Duration, others int64) {
	note := fmt.Sprintf("no request until %s (%v): the pause of %s has not ended",
		until.UTC().Format(time.RFC3339), wait.Round(time.Second), host)
	if others > 0 {
		note += fmt.Sprintf(", and %d more hosts wait", others)
	}
	r.emit(Event{Run: r.summary.Run, State: "waiting", Note: note})
}
