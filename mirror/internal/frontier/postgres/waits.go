package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

func (e *engine) LimitWaits(ctx context.Context, longest time.Duration) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		latest := t.now + longest.Microseconds()
		rows, err := t.Query(t.ctx, "update host set next = least(next, $1::bigint + greatest(delay, crawl, $2::bigint)), until = least(until, $1::bigint)"+
			" where due > $1::bigint + greatest(delay, crawl, $2::bigint) and due < $3::bigint returning id", latest, t.pause(), int64(pausedTime))
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(ids) == 0 {
			return err
		}
		err = t.exec("update url set wait = $1 where host = any($2) and state = 0 and wait > $1 and wait < $3", latest, ids, int64(farFuture))
		if err != nil {
			return err
		}
		return t.exec("update host h set due = case when until is null then "+computeDue+" else greatest(next, until + greatest(delay, crawl, $3::bigint)) end where id = any($2)", t.now, ids, t.pause())
	})
}
