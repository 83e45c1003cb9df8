package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/internal/frontier"
)

// fencedIfMissing returns ErrFenced if a query for a leased host found no row.
func fencedIfMissing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return frontier.ErrFenced
	}
	return err
}

// leasedHost locks the leased host and returns its row number.
func (t *tx) leasedHost(l *frontier.Lease) (id int64, err error) {
	err = t.QueryRow(t.ctx, "select id from host where name = $1 and epoch = $2 and until is not null for update",
		l.Host, l.Epoch).Scan(&id)
	return id, fencedIfMissing(err)
}

func (e *engine) Extend(ctx context.Context, l *frontier.Lease, ttl time.Duration) error {
	var until pgtype.Int8
	err := e.write(ctx, shared, func(t *tx) error {
		id, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		until = pgtype.Int8{Int64: t.now + ttl.Microseconds(), Valid: true}
		return t.exec("update host set until = $2, due = greatest(next, $2) where id = $1", id, until)
	})
	if err == nil {
		l.Until = timeOf(until)
	}
	return err
}

func (e *engine) Release(ctx context.Context, l *frontier.Lease, next time.Time) error {
	err := e.write(ctx, shared, func(t *tx) error {
		id, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		// A later time of BlockHost takes precedence.
		var b pgx.Batch
		b.Queue("update host set next = greatest(next, $2), until = null where id = $1", id, frontier.Micros(next))
		b.Queue("update host h set due = "+computeDue+" where id = $2", t.now, id)
		return t.send(&b)
	})
	if err == nil {
		clear(l.Outstanding)
	}
	return err
}

func (e *engine) BlockHost(ctx context.Context, host string, until time.Time) error {
	return e.write(ctx, shared, func(t *tx) error {
		var b pgx.Batch
		b.Queue("insert into host (name) select $1::text where not exists (select from host where name = $1) on conflict do nothing", host)
		b.Queue(`update host set next = greatest(next, $2),
			due = case when due is null then null else greatest(due, next, $2) end where name = $1`, host, frontier.Micros(until))
		return t.send(&b)
	})
}

// afterPause returns the earliest time at which a host may be claimed that this
// worker did not release, because its process ended. The process may have sent a
// request a moment ago.
func (t *tx) afterPause() int64 {
	if t.e.worker.Pause <= 0 {
		return 0
	}
	return t.now + t.e.worker.Pause.Microseconds()
}

func (e *engine) Evict(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		rows, err := t.Query(t.ctx, `update host set until = null, next = greatest(next, $2)
			where until is not null and ($1 = '' or owner = $1) returning id`, e.worker.Name, t.afterPause())
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) == 0 {
			return err
		}
		return t.exec("update host h set due = "+computeDue+" where id = any($2)", t.now, ids)
	})
}
