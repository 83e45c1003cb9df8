package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	type newest struct {
		run   int64
		fresh bool
	}
	n, err := transact(ctx, e, exclusive, func(t *tx) (n newest, err error) {
		if err := t.start(); err != nil {
			return n, err
		}
		if !t.Live {
			if t.Run > 0 && e.worker.Name != "" && !e.worker.Again {
				return n, frontier.ErrEnded
			}
			n.fresh = true
			t.Run++
			t.queued.Queue("update book set run = $1, live = true", t.Run)
			t.queued.Queue("delete from counter")
			t.queued.Queue("insert into run (id, note, started) values ($1, $2, $3)", t.Run, note, t.Now)
			t.queued.Queue("update tally set before = before + done, done = 0, kept = 0, gone = 0, dead = 0, excluded = 0")
		}
		n.run = t.Run
		hosts := queueRows(&t.queued, pgx.RowTo[int64], "update url set wait = null where wait = 9223372036854775807 returning host")
		if err := t.sendQueued(); err != nil {
			return n, err
		}
		return n, t.computeDues(*hosts)
	})
	return n.run, n.fresh, err
}

func (e *engine) End(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		if !t.Live {
			return frontier.ErrNoRun
		}
		var b pgx.Batch
		b.Queue("update book set live = false")
		b.Queue("update run set ended = $1 where id = $2", t.Now, t.Run)
		return t.send(&b)
	})
}

func (e *engine) Stats(ctx context.Context) (frontier.Stats, error) {
	return read(ctx, e, func(ctx context.Context, q pgx.Tx) (st frontier.Stats, err error) {
		st.Dropped = e.dropped.Load()
		var all rules.Tally
		var now int64
		var next, started, ended sql.NullInt64
		err = q.QueryRow(ctx, "select b.run, "+timeNow+", r.note, r.started, r.ended from book b left join run r on r.id = b.run",
			e.clock()).Scan(&st.Run, &now, &st.Note, &started, &ended)
		if err != nil {
			return st, err
		}
		var b pgx.Batch
		b.Queue(sumTally).QueryRow(func(r pgx.Row) error { return r.Scan(all.Fields()...) })
		b.Queue(`select count(*), count(*) filter (where due > $1 and due < $2 and coalesce(until, 0) <= $1),
			count(*) filter (where next = $2), count(*) filter (where (due < $2 or until > $1) and name <> all($3::text[]))
			from host h where due is not null and exists (select from url where host = h.id and state = 0)`, now, int64(rules.PausedTime), e.skipped.names()).
			QueryRow(func(r pgx.Row) error { return r.Scan(&st.Hosts, &st.Waiting, &st.Paused, &st.Open) })
		b.Queue(`select due, name from host h where due > $1 and due < $2
			and exists (select from url where host = h.id and state = 0 and coalesce(wait, 0) < 9223372036854775807)
			order by due limit 1`, now, int64(rules.PausedTime)).
			QueryRow(func(r pgx.Row) error { return ignoreMissing(r.Scan(&next, &st.NextHost)) })
		b.Queue("select count(*) from url where wait = 9223372036854775807").
			QueryRow(func(r pgx.Row) error { return r.Scan(&st.Postponed) })
		queueErrorCounts(&b, &st)
		if err := q.SendBatch(ctx, &b).Close(); err != nil {
			return st, err
		}
		all.Report(&st)
		st.Time = time.UnixMicro(now).UTC()
		st.Started, st.Ended, st.NextDue = rules.TimeOf(started), rules.TimeOf(ended), rules.TimeOf(next)
		return st, nil
	})
}
