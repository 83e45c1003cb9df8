package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// leasedHostID returns the row number of the leased host. It returns ErrFenced
// if the lease was released or another worker has claimed the host. Otherwise
// even an expired lease is valid, so that completed work is not lost.
func (s *session) leasedHostID(l *frontier.Lease) (host int64, err error) {
	err = s.Scan("select id from host where name=? and epoch=? and until is not null", []any{l.Host, l.Epoch}, &host)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, frontier.ErrFenced
	}
	return host, err
}

// leasedHost returns the leased host. It returns the same errors as
// leasedHostID.
func (t *tx) leasedHost(l *frontier.Lease) (*host, error) {
	id, err := t.leasedHostID(l)
	if err != nil {
		return nil, err
	}
	return t.hostOf(id)
}

func (e *engine) Extend(ctx context.Context, l *frontier.Lease, ttl time.Duration) error {
	var until sql.NullInt64
	err := e.writeLease(ctx, func(t *tx) error {
		h, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		h.setLease(t.now + ttl.Microseconds())
		until = h.until
		return nil
	})
	if err == nil {
		l.Until = timeOf(until)
	}
	return err
}

func (e *engine) Release(ctx context.Context, l *frontier.Lease, next time.Time) error {
	err := e.writeLease(ctx, func(t *tx) error {
		h, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		h.block(rules.Micros(next)) // a later time set by BlockHost takes precedence
		return t.endLease(h)
	})
	if err == nil {
		clear(l.Outstanding)
	}
	return err
}

func (e *engine) BlockHost(ctx context.Context, host string, until time.Time) error {
	return e.write(ctx, func(t *tx) error {
		h, err := t.host(host)
		if err != nil {
			return err
		}
		h.block(rules.Micros(until))
		h.due = max(h.due, h.next)
		return nil
	})
}

func (e *engine) Evict(ctx context.Context) error {
	return e.writeLease(ctx, func(t *tx) error {
		ids, err := t.rowNumbers("select id from host where until is not null")
		if err != nil {
			return err
		}
		for _, id := range ids {
			h, err := t.hostOf(id)
			if err != nil {
				return err
			}
			h.block(t.now + h.control.pause()) // the worker may have sent a request just before
			if err := t.endLease(h); err != nil {
				return err
			}
		}
		return nil
	})
}
