package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error) {
	err = e.write(ctx, exclusive, func(t *tx) error {
		if fresh = !t.live; fresh {
			if t.run > 0 && e.worker.Name != "" && !e.worker.Again {
				return frontier.ErrEnded
			}
			t.run++
			var b pgx.Batch
			b.Queue("update book set run = $1, live = true", t.run)
			b.Queue("delete from counter")
			b.Queue("insert into run (id, note, started) values ($1, $2, $3)", t.run, note, t.now)
			b.Queue("update tally set before = before + done, done = 0, kept = 0, gone = 0, dead = 0, excluded = 0")
			if err := t.send(&b); err != nil {
				return err
			}
		}
		run = t.run
		return t.wakePostponed()
	})
	return run, fresh, err
}

// wakePostponed makes all postponed items ready.
func (t *tx) wakePostponed() error {
	rows, err := t.Query(t.ctx, "update url set wait = null where wait = 9223372036854775807 returning host")
	if err != nil {
		return err
	}
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(hosts) == 0 {
		return err
	}
	return t.exec("update host h set due = "+computeDue+" where id = any($2) and not coalesce(until, 0) > $1", t.now, hosts)
}

func (e *engine) End(ctx context.Context) error {
	return e.write(ctx, exclusive, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		var b pgx.Batch
		b.Queue("update book set live = false")
		b.Queue("update run set ended = $1 where id = $2", t.now, t.run)
		return t.send(&b)
	})
}

func (e *engine) Stats(ctx context.Context) (st frontier.Stats, err error) {
	err = e.read(ctx, func(ctx context.Context, q pgx.Tx) error {
		st = frontier.Stats{Dropped: e.dropped.Load(), States: map[frontier.State]int64{}}
		var all tally
		var now int64
		var next, started, ended pgtype.Int8
		err := q.QueryRow(ctx, "select b.run, "+timeNow+", r.note, r.started, r.ended from book b left join run r on r.id = b.run",
			e.clock()).Scan(&st.Run, &now, &st.Note, &started, &ended)
		if err != nil {
			return err
		}
		var b pgx.Batch
		b.Queue(sumTally).QueryRow(func(r pgx.Row) error { return r.Scan(all.fields()...) })
		b.Queue(`select count(*), count(*) filter (where due > $1 and due < $2 and coalesce(until, 0) <= $1),
			count(*) filter (where next = $2), count(*) filter (where (due < $2 or until > $1) and name <> all($3::text[]))
			from host h where due is not null and exists (select from url where host = h.id and state = 0)`, now, int64(pausedTime), e.skipped.names()).
			QueryRow(func(r pgx.Row) error { return r.Scan(&st.Hosts, &st.Waiting, &st.Paused, &st.Open) })
		b.Queue(`select due, name from host h where due > $1 and due < $2
			and exists (select from url where host = h.id and state = 0 and coalesce(wait, 0) < 9223372036854775807)
			order by due limit 1`, now, int64(pausedTime)).
			QueryRow(func(r pgx.Row) error { return ignoreMissing(r.Scan(&next, &st.NextHost)) })
		b.Queue("select count(*) from url where wait = 9223372036854775807").
			QueryRow(func(r pgx.Row) error { return r.Scan(&st.Postponed) })
		queueErrorCounts(&b, &st)
		if err := q.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		st.Time = time.UnixMicro(now).UTC()
		st.URLs, st.Captures, st.Bytes = all.urls, all.captures, all.bytes
		st.Started, st.Ended, st.NextDue = timeOf(started), timeOf(ended), timeOf(next)
		for state, n := range all.states {
			if n > 0 {
				st.States[frontier.State(state)] = n
			}
		}
		return nil
	})
	return st, err
}
