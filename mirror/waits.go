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

const (
	reportedWait   = 5 * time.Second // minimum duration of a wait that is reported
	reportInterval = time.Minute     // minimum time between two reports
)

// waits describes the waiting times of a run that visits no host.
type waits struct {
	checked    time.Time // end of the most recent wait that was checked
	reported   time.Time // end of the most recent wait that was reported
	reportedAt time.Time // time of this report
}

// A Wait describes the time until a run sends its next request. It is the pause
// between requests to a host, or the pause after a failed request.
type Wait struct {
	Host   string    // the host whose pause ends first
	Until  time.Time // end of this pause
	Others int64     // number of further hosts that wait
}

// checkWaits returns the statistics of the frontier when no host is visited. If
// the run must wait for longer than any pause lasts, the clock was set back, and
// checkWaits shortens the waits. It reports each long wait once, at most one in a
// minute.
func (c *crawl) checkWaits(ctx context.Context, w *waits) (frontier.Stats, error) {
	stats, err := c.queue.Stats(ctx)
	if err != nil || stats.NextDue.IsZero() {
		return stats, err
	}
	longest := maxPause + max(c.o.Delay, publicDelay)
	if !stats.NextDue.Equal(w.checked) && stats.NextDue.Sub(stats.Time) > longest {
		if err := c.queue.LimitWaits(ctx, longest); err != nil {
			return stats, err
		}
		if stats, err = c.queue.Stats(ctx); err != nil {
			return stats, err
		}
	}
	w.checked = stats.NextDue
	if stats.Waiting != stats.Open {
		return stats, nil
	}
	wait := Wait{stats.NextHost, c.localTime(stats.NextDue), stats.Waiting - 1}
	c.wait.Store(&wait)
	left := stats.NextDue.Sub(stats.Time)
	if left >= reportedWait && !stats.NextDue.Equal(w.reported) && (w.reportedAt.IsZero() || stats.Time.Sub(w.reportedAt) >= reportInterval) {
		w.reported, w.reportedAt = stats.NextDue, stats.Time
		c.report.waiting(wait, left)
	}
	return stats, nil
}

// waiting reports an event when the run sends no request for a duration.
func (r *report) waiting(w Wait, left time.Duration) {
	note := fmt.Sprintf("no request until %s (%v): the pause of %s has not ended",
		w.Until.UTC().Format(time.RFC3339), left.Round(time.Second), w.Host)
	if w.Others > 0 {
		note += fmt.Sprintf(", and %d more hosts wait", w.Others)
	}
	r.emit(Event{Run: r.summary.Run, State: "waiting", Note: note})
}
