package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// ignoreMissing returns nil if a query for a leased host found no row.
func ignoreMissing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// writeLease executes f in a transaction that has locked the leased host. The
// parameter id is the row number of the host.
func (e *engine) writeLease(ctx context.Context, l *frontier.Lease, f func(t *tx, id int64)) error {
	var id int64
	lock := func(t *tx, b *pgx.Batch) {
		id = 0
		t.queueLease(b, l, &id)
	}
	return e.writeAfter(ctx, shared, lock, func(t *tx) error {
		if id == 0 {
			return frontier.ErrFenced
		}
		f(t, id)
		return nil
	})
}

// queueLease queues statements that lock the leased host and store its row
// number in id, unless the lease has ended.
func (t *tx) queueLease(b *pgx.Batch, l *frontier.Lease, id *int64) {
	b.Queue("select id from host where name = $1 and epoch = $2 and until is not null for no key update", l.Host, l.Epoch).
		QueryRow(func(r pgx.Row) error {
			return ignoreMissing(r.Scan(id))
		})
	t.queueNumber(b)
}

func (e *engine) Extend(ctx context.Context, l *frontier.Lease, ttl time.Duration) error {
	var until pgtype.Int8
	err := e.writeLease(ctx, l, func(t *tx, id int64) {
		until = pgtype.Int8{Int64: t.now + ttl.Microseconds(), Valid: true}
		t.last.Queue("update host set until = $2, "+leasedDue+" where id = $1", id, until, t.pause())
	})
	if err == nil {
		l.Until = timeOf(until)
	}
	return err
}

func (e *engine) Release(ctx context.Context, l *frontier.Lease, next time.Time) error {
	err := e.writeLease(ctx, l, func(t *tx, id int64) {
		// A later time that BlockHost has set takes precedence.
		t.last.Queue("update host h set until = null, "+blockHost+", due = case when "+hasReady+` then greatest(next, $2, $3) end
			where id = $1`, id, rules.Micros(next), t.now)
		// If the host has no ready URL, it becomes due later or not at all.
		// This change needs a fullLock.
		t.last.Queue("select from host where id = $1 and due is null for update", id)
		t.last.Queue("update host h set due = "+computeDue+" where id = $2 and due is null", t.now, id)
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
		b.Queue("update host set "+blockHost+`,
			due = case when due is not null then greatest(due, next, $2) end where name = $1`, host, rules.Micros(until))
		return t.send(&b)
	})
}

// pause returns the minimum time between two requests to a host without settings.
func (t *tx) pause() int64 { return max(t.e.worker.Pause.Microseconds(), 0) }

func (e *engine) Evict(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		// The worker of a lease may have sent a request just before.
		const end = "$2::bigint + greatest(delay, crawl, $3::bigint)"
		rows, err := t.Query(t.ctx, "update host set until = null, next = greatest(next, "+end+`),
			held = case when held is not null then greatest(held, `+end+`) end
			where until is not null and ($1 = '' or owner = $1) returning id`, e.worker.Name, t.now, t.pause())
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
