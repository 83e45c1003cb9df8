package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Requeue(ctx context.Context, from ...frontier.State) (n int64, err error) {
	err = e.write(ctx, exclusive, func(t *tx) error {
		n = 0
		for _, state := range from {
			if state == frontier.Pending || int(state) >= numStates {
				continue
			}
			moved, err := t.requeue("state = $1", state)
			if err != nil {
				return err
			}
			n += moved
			column := state.String()
			if state == frontier.Done {
				column = "before = 0, done"
			}
			if err := t.exec("update tally set " + column + " = 0"); err != nil {
				return err
			}
			if state == frontier.Excluded {
				if err := t.exec("update host set excluded = false where excluded"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (e *engine) Revive(ctx context.Context) (n int64, err error) {
	err = e.write(ctx, exclusive, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		n = 0
		for _, from := range []struct {
			state frontier.State
			where string
		}{{frontier.Done, "state = $1 and run < $2"}, {frontier.Excluded, "state = $1 and run < $2 and last is not null"}} {
			moved, err := t.requeue(from.where, from.state)
			if n += moved; err != nil {
				return err
			}
		}
		return t.exec("update tally set before = 0")
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// requeue makes the URLs that match an SQL condition pending, and returns their
// number. The parameters of the condition are state and run.
func (t *tx) requeue(where string, state frontier.State) (n int64, err error) {
	rows, err := t.Query(t.ctx, `with moved as (update url set state = 0, run = $2, attempts = 0, note = null
		where `+where+` returning host) select host, count(*) from moved group by host`, int16(state), t.run)
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
	t.tally.states[frontier.Pending] += n
	return n, t.makeDue(hosts)
}

// makeDue makes hosts due, except leased hosts. A blocked host becomes due at
// the end of its block.
func (t *tx) makeDue(hosts []int64) error {
	if len(hosts) == 0 {
		return nil
	}
	return t.exec("update host set due = least(coalesce(due, next), next) where id = any($2) and not coalesce(until, 0) > $1",
		t.now, hosts)
}

func (e *engine) RequeueItems(ctx context.Context, keys []frontier.Key) (n int64, err error) {
	err = e.write(ctx, exclusive, func(t *tx) error {
		n = 0
		list := make([][]byte, len(keys))
		for i := range keys {
			list[i] = keys[i][:]
		}
		var b pgx.Batch
		t.lookup(&b, list, "for update")
		if err := t.send(&b); err != nil {
			return err
		}
		hosts := map[int64]bool{}
		for _, r := range t.rows {
			if r.state == frontier.Pending || r.state == frontier.Gone {
				continue
			}
			t.countMove(r, frontier.Pending)
			r.state, r.run, r.attempts, r.wait.Valid, r.note, r.changed = frontier.Pending, t.run, 0, false, nil, true
			hosts[r.host] = true
			n++
		}
		if _, err := t.flush(nil); err != nil {
			return err
		}
		return t.makeDue(slices.Collect(maps.Keys(hosts)))
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
