package sqlite

import (
	"context"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// changeLease executes f for the leased host and returns the end of its lease.
func (e *engine) changeLease(ctx context.Context, l *frontier.Lease, f func(*host)) (until time.Time, err error) {
	err = e.writeLease(ctx, func(t *tx) error {
		h, err := t.leasedHost(l)
		if err == nil {
			f(h)
			until = rules.TimeOf(h.Until)
		}
		return err
	})
	return until, err
}

func (e *engine) Extend(ctx context.Context, l *frontier.Lease, ttl time.Duration) error {
	until, err := e.changeLease(ctx, l, func(h *host) { h.Extend(ttl) })
	if err == nil {
		l.Until = until
	}
	return err
}

func (e *engine) Release(ctx context.Context, l *frontier.Lease, next time.Time) error {
	_, err := e.changeLease(ctx, l, func(h *host) { h.Release(rules.Micros(next)) })
	if err == nil {
		clear(l.Outstanding)
	}
	return err
}

func (e *engine) BlockHost(ctx context.Context, host string, until time.Time) error {
	return e.write(ctx, func(t *tx) error {
		h, err := t.FindHost(host)
		if err == nil {
			h.Block(rules.Micros(until))
		}
		return err
	})
}

func (e *engine) Evict(ctx context.Context) error {
	return e.writeLease(ctx, func(t *tx) error {
		hosts, err := t.hostsWhere("where until is not null")
		for _, h := range hosts {
			h.Evict()
		}
		return err
	})
}

func (e *engine) LimitWaits(ctx context.Context, longest time.Duration) error {
	return e.write(ctx, func(t *tx) error {
		latest := t.Now + longest.Microseconds()
		hosts, err := t.hostsWhere("where pending > 0 and due > ? and due < ?", latest, int64(rules.PausedTime))
		for _, h := range hosts {
			if err == nil {
				err = t.Exec("update url set wait=?1 where host=?2 and wait > ?1 and wait <> ?3", latest, h.ID, int64(rules.FarFuture))
			}
			h.LimitWaits(latest)
		}
		return err
	})
}

// hostsWhere returns the hosts that match an SQL condition.
func (t *tx) hostsWhere(where string, args ...any) (found []*host, err error) {
	err = t.ForEachRow(selectHost+where, args, func(r *sqlite.Row) error {
		h, err := scanHost(r.Scan, t.Now)
		if known := t.hosts[h.ID]; known != nil {
			h = known
		}
		t.hosts[h.ID], t.names[h.Name] = h, h
		found = append(found, h)
		return err
	})
	return found, err
}
