package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// ChangeLimits changes the limits of a crawl with a shared frontier. It calls
// change with the limits of the newest run, and stores their fields Files, Bytes
// and Time. Zero means no limit. ChangeLimits can call change several times.
//
// Running workers respect the limits within five seconds. The limits also apply
// to workers that start later, and to later runs.
func (c *Crawl) ChangeLimits(ctx context.Context, change func(*Limits)) error {
	err := c.viewShared(ctx, func(f frontier.Shared) error {
		return f.ChangeNote(ctx, func(text []byte) ([]byte, error) {
			note, err := parseNote(text)
			if err != nil {
				return nil, err
			}
			if note.Settings == nil {
				return nil, fetch.Usage.Errorf("the settings of the crawl were too long to be stored")
			}
			stored := &note.Settings.Limits
			l := stored.limits()
			change(&l)
			if l.Files < 0 || l.Bytes < 0 || l.Time < 0 {
				return nil, fetch.Usage.Errorf("a limit of a crawl must not be negative")
			}
			stored.Files, stored.Bytes, stored.Seconds = l.Files, l.Bytes, l.Time.Seconds()
			return json.Marshal(note)
		})
	})
	if errors.Is(err, frontier.ErrNoRun) {
		return fetch.Usage.Errorf("the crawl has no run")
	}
	return archive.Classify(err)
}

// updateLimits applies the limits that ChangeLimits has stored. It returns the
// version of the limits, and does nothing if the version has not changed.
func (c *crawl) updateLimits(ctx context.Context, version string) (now string, err error) {
	text, now, changed, err := c.shared.ChangedNote(ctx, version)
	if err != nil || !changed {
		return now, err
	}
	if note, err := parseNote(text); err == nil && note.Settings != nil {
		c.tally.setLimits(note.Settings.Limits.limits())
	}
	return now, nil
}

// A deadline ends a run that has reached Limits.Time.
type deadline struct {
	timer *time.Timer
	limit time.Duration // value of Limits.Time for which the timer was set
}

// newDeadline returns a stopped deadline. Once started by setDeadline, it calls
// end when the run reaches Limits.Time.
func newDeadline(end func()) *deadline {
	d := &deadline{timer: time.AfterFunc(time.Hour, end)}
	d.timer.Stop()
	return d
}

// setDeadline starts or stops d, so that d ends the run when it reaches
// Limits.Time.
func (c *crawl) setDeadline(ctx context.Context, d *deadline) error {
	limit := c.tally.time()
	if limit == d.limit {
		return nil
	}
	if limit <= 0 {
		d.timer.Stop()
	} else {
		elapsed, err := c.elapsed(ctx)
		if err != nil {
			return err
		}
		d.timer.Reset(limit - elapsed)
	}
	d.limit = limit
	return nil
}
