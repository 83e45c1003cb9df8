package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Requeue(ctx context.Context, from ...frontier.State) (n int64, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (int64, error) {
		if err := t.start(); err != nil {
			return 0, err
		}
		return t.Requeue(from)
	})
}

func (e *engine) Revive(ctx context.Context) (n int64, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (int64, error) {
		if err := t.start(); err != nil {
			return 0, err
		}
		return t.Revive()
	})
}

// RequeueAll implements rules.Store. A blocked host becomes due at the end of its
// block.
func (t *tx) RequeueAll(state frontier.State, earlier bool) ([]rules.Requeued, error) {
	where := "state = $1"
	if earlier {
		where += " and run < $2 and (state <> 5 or last is not null)"
	}
	moved, err := selectRows(t, pgx.RowToStructByPos[rules.Requeued], "with old as (select id, host, run from url where "+where+`),
		moved as (update url u set state = 0, run = $2, attempts = 0, note = null from old where u.id = old.id)
		select host, run = $2, count(*) from old group by 1, 2`, int16(state), t.Run)
	if err != nil || len(moved) == 0 {
		return nil, err
	}
	return moved, t.exec("update host set due = least(coalesce(due, next), next) where id = any($2) and not "+leased,
		t.Now, column(moved, func(m rules.Requeued) int64 { return m.Host }), t.minDelay())
}

// IncludeHosts implements rules.Store.
func (t *tx) IncludeHosts() error { return t.exec("update host set excluded = false where excluded") }
