package sqlite

import (
	"context"
	"database/sql"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Requeue(ctx context.Context, from ...frontier.State) (n int64, err error) {
	err = e.write(ctx, func(t *tx) error {
		for _, state := range from {
			if state == frontier.Pending || int(state) >= rules.NumStates {
				continue
			}
			moved, err := t.requeue("state=?1 and ?2", state)
			if err != nil {
				return err
			}
			n += moved
			t.Tally.States[state] = 0
			switch state {
			case frontier.Done:
				t.Tally.Before = 0
			case frontier.Excluded:
				if err := t.Exec("update control set excluded=0"); err != nil {
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
	err = e.write(ctx, func(t *tx) error {
		if !t.Live {
			return frontier.ErrNoRun
		}
		if t.Run == 1 { // the first run has no URLs of earlier runs
			return nil
		}
		for state, where := range map[frontier.State]string{
			frontier.Done:     "state=?1 and run<?2",
			frontier.Excluded: "state=?1 and run<?2 and last is not null",
		} {
			if state == frontier.Done && t.Tally.Before == 0 {
				continue
			}
			moved, err := t.requeue(where, state)
			if n += moved; err != nil {
				return err
			}
		}
		t.Tally.Before = 0
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// wakePostponed makes all postponed items ready.
func (t *tx) wakePostponed() error {
	hosts, err := t.hostsWhere("where id in (select host from url where wait = ?)", int64(rules.FarFuture))
	if len(hosts) == 0 || err != nil {
		return err
	}
	for _, h := range hosts {
		h.Stale = true
	}
	return t.Exec("update url set wait=null where wait = ?", int64(rules.FarFuture))
}

// requeue makes the URLs that match an SQL condition pending, and returns their
// number. The parameters of the condition are state and run.
func (t *tx) requeue(where string, state frontier.State) (n int64, err error) {
	query := "select host, count(*) from url where " + where + " group by host"
	err = t.ForEachRow(query, []any{int(state), t.Run}, func(r *sqlite.Row) error {
		var id, moved int64
		if err := r.Scan(&id, &moved); err != nil {
			return err
		}
		h, err := t.HostOf(id)
		if err != nil {
			return err
		}
		h.Pending += moved
		h.SetReady(sql.NullInt64{})
		n += moved
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.Tally.States[frontier.Pending] += n
	err = t.Exec("update url set state=0, run=?2, attempts=0, note=null where "+where, int(state), t.Run)
	return n, err
}
