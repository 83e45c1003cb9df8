package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Requeue(ctx context.Context, from ...frontier.State) (n int64, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (n int64, err error) {
		if err := t.start(); err != nil {
			return 0, err
		}
		for _, state := range from {
			if state == frontier.Pending || int(state) >= rules.NumStates {
				continue
			}
			moved, err := t.requeue("state = $1", state)
			if n += moved; err != nil {
				return 0, err
			}
			column := state.String()
			if state == frontier.Done {
				column = "before = 0, done"
			}
			if err := t.exec("update tally set " + column + " = 0"); err != nil {
				return 0, err
			}
			if state == frontier.Excluded {
				if err := t.exec("update host set excluded = false where excluded"); err != nil {
					return 0, err
				}
			}
		}
		return n, nil
	})
}

func (e *engine) Revive(ctx context.Context) (n int64, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (n int64, err error) {
		if err := t.start(); err != nil {
			return 0, err
		}
		if !t.Live {
			return 0, frontier.ErrNoRun
		}
		for _, from := range []struct {
			state frontier.State
			where string
		}{{frontier.Done, "state = $1 and run < $2"}, {frontier.Excluded, "state = $1 and run < $2 and last is not null"}} {
			moved, err := t.requeue(from.where, from.state)
			if n += moved; err != nil {
				return 0, err
			}
		}
		return n, t.exec("update tally set before = 0")
	})
}

// requeue makes the URLs that match an SQL condition pending, and returns their
// number. The parameters of the condition are state and run.
func (t *tx) requeue(where string, state frontier.State) (n int64, err error) {
	rows, err := t.Query(t.ctx, `with moved as (update url set state = 0, run = $2, attempts = 0, note = null
		where `+where+` returning host) select host, count(*) from moved group by host`, int16(state), t.Run)
	if err != nil {
		return 0, err
	}
	var hosts []int64
	var host, moved int64
	if _, err := pgx.ForEachRow(rows, []any{&host, &moved}, func() error {
		hosts = append(hosts, host)
		n += moved
		return nil
	}); err != nil {
		return 0, err
	}
	t.Tally.States[frontier.Pending] += n
	return n, t.makeDue(hosts)
}

// makeDue makes hosts due, except leased hosts. A blocked host becomes due at
// the end of its block.
func (t *tx) makeDue(hosts []int64) error {
	if len(hosts) == 0 {
		return nil
	}
	return t.exec("update host set due = least(coalesce(due, next), next) where id = any($2) and not "+leased,
		t.Now, hosts, t.minDelay())
}
