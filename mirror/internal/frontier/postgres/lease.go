package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// ignoreMissing returns nil if a query found no row.
func ignoreMissing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// startWith starts the transaction and locks the host that matches an SQL
// condition. The result is nil if there is no such host.
func (t *tx) startWith(l lock, where string, args ...any) (*host, error) {
	found := t.queueHosts(&t.queued, t.hosts, l, where, args...)
	t.queueNumber(&t.queued)
	if err := t.start(); err != nil || len(*found) == 0 {
		return nil, err
	}
	return (*found)[0], nil
}

// changeLease executes f for the leased host and returns the end of its lease.
func (e *engine) changeLease(ctx context.Context, l *frontier.Lease, f func(*host)) (until time.Time, err error) {
	return transact(ctx, e, shared, func(t *tx) (until time.Time, err error) {
		h, err := t.startWith(changeLock, "where name = $1 and epoch = $2 and until is not null", l.Host, l.Epoch)
		if err != nil {
			return until, err
		}
		if h == nil {
			return until, frontier.ErrFenced
		}
		f(h)
		return rules.TimeOf(h.Until), nil
	})
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

func (e *engine) BlockHost(ctx context.Context, name string, until time.Time) error {
	_, err := transact(ctx, e, shared, func(t *tx) (struct{}, error) {
		t.queued.Queue("insert into host (name) select $1::text where not exists (select from host where name = $1) on conflict do nothing", name)
		h, err := t.startWith(changeLock, "where name = $1", name)
		if h != nil {
			h.Block(rules.Micros(until))
		}
		return struct{}{}, err
	})
	return err
}

func (e *engine) Evict(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		var b pgx.Batch
		hosts := t.queueHosts(&b, t.hosts, fullLock, "where until is not null and ($1 = '' or owner = $1) order by id", e.worker.Name)
		if err := t.send(&b); err != nil {
			return err
		}
		for _, h := range *hosts {
			h.Evict()
		}
		return nil
	})
}

func (e *engine) LimitWaits(ctx context.Context, longest time.Duration) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		latest := t.Now + longest.Microseconds()
		ids, err := selectRows(t, pgx.RowTo[int64], `update host
			set next = least(next, $1::bigint + greatest(delay, crawl, $2::bigint)), until = least(until, $1::bigint)
			where due > $1::bigint + greatest(delay, crawl, $2::bigint) and due < $3::bigint returning id`,
			latest, t.minDelay(), int64(rules.PausedTime))
		if err != nil || len(ids) == 0 {
			return err
		}
		err = t.exec("update url set wait = $1 where host = any($2) and state = 0 and wait > $1 and wait < $3",
			latest, ids, int64(rules.FarFuture))
		if err != nil {
			return err
		}
		err = t.exec("update host set due = greatest(next, until + greatest(delay, crawl, $3::bigint)) where id = any($2) and "+leased,
			t.Now, ids, t.minDelay())
		if err != nil {
			return err
		}
		return t.computeDues(ids)
	})
}
