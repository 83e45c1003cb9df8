package sqlite

import (
	"context"
	"time"
)

func (e *engine) LimitWaits(ctx context.Context, longest time.Duration) error {
	return e.write(ctx, func(t *tx) error {
		latest := t.now + longest.Microseconds()
		ids, err := t.rowNumbers("select id from host where pending > 0 and due > ? and due < ?", latest, pausedTime)
		if err != nil {
			return err
		}
		for _, id := range ids {
			h, err := t.hostOf(id)
			if err == nil {
				err = t.Exec("update url set wait=?1 where host=?2 and wait > ?1 and wait <> ?3", latest, id, farFuture)
			}
			if err != nil {
				return err
			}
			h.limitWaits(latest)
		}
		return nil
	})
}

// limitWaits shortens the pause and the lease of the host.
func (h *host) limitWaits(latest int64) {
	h.next = min(h.next, latest+h.control.pause())
	if h.until.Valid {
		h.setLease(min(h.until.Int64, latest))
	}
	h.changed, h.stale = true, true
}
