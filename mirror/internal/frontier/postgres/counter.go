package postgres

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// queueCounters queues statements that add the results of visits to the host h
// to the counters. A worker changes only its own counters, so that workers do
// not wait for each other.
func (t *tx) queueCounters(b *pgx.Batch, h *host, rs []frontier.Result) {
	changes, objects := rules.Counters(rs)
	if objects != 0 {
		b.Queue(`insert into host_count values ($1, $2) on conflict (host) do update set objects = host_count.objects + $2`,
			h.ID, objects)
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		t.queueCount(b, t.e.worker.Name, name, changes[name])
	}
}

// queueCount queues a statement that adds n to a counter of a worker.
func (t *tx) queueCount(b *pgx.Batch, worker, name string, n int64) {
	b.Queue(`insert into counter values ($1, $2, $3) on conflict (worker, name) do update set n = counter.n + $3`, worker, name, n)
}

// queueErrorCounts queues a statement that reads the number of failed results
// of the run for each class of error into st.Errors.
func queueErrorCounts(b *pgx.Batch, st *frontier.Stats) {
	b.Queue("select name, sum(n)::bigint from counter where name like 'error %' group by name").Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var name string
			var n int64
			if err := rows.Scan(&name, &n); err != nil {
				return err
			}
			if st.Errors == nil {
				st.Errors = map[string]int64{}
			}
			st.Errors[strings.TrimPrefix(name, rules.ErrorCounter)] = n
		}
		return rows.Err()
	})
}

func (e *engine) Counts(ctx context.Context) (own, others frontier.Counts, err error) {
	const query = `select coalesce(sum(n) filter (where name = 'files'), 0)::bigint, coalesce(sum(n) filter (where name = 'bytes'), 0)::bigint
		from (values (true), (false)) own(yes) left join counter on (worker = $1) = yes group by yes order by yes desc`
	both, err := collect(ctx, e, query, []any{e.worker.Name}, pgx.RowToStructByPos[frontier.Counts])
	if err != nil {
		return own, others, err
	}
	return both[0], both[1], nil
}
