package frontier

import (
	"context"
	"database/sql"

	"github.com/anyurl/fetch/internal/sqlite"
)

func (e *engine) Requeue(ctx context.Context, from ...State) (n int64, err error) {
	err = e.write(ctx, func(t *tx) error {
		for _, state := range from {
			if state == Pending || int(state) >= len(states) {
				continue
			}
			moved, err := t.requeue("state=?1 and ?2", state)
			if err != nil {
				return err
			}
			n += moved
			t.states[state] = 0
			if state == Done {
				t.before = 0
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
		if !t.live {
			return errNoRun
		}
		if t.before == 0 {
			return nil
		}
		t.before = 0
		n, err = t.requeue("state=?1 and run<?2", Done)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// requeue makes pending what is in one state. The condition where has the
// parameters state and run.
func (t *tx) requeue(where string, state State) (n int64, err error) {
	err = t.Each("select host, count(*) from url where "+where+" group by host", []any{int(state), t.run}, func(r *sqlite.Row) error {
		var id, moved int64
		if err := r.Scan(&id, &moved); err != nil {
			return err
		}
		h, err := t.hostOf(id)
		if err != nil {
			return err
		}
		h.gain(moved)
		h.ready(sql.NullInt64{})
		n += moved
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.states[Pending] += n
	err = t.Exec("update url set state=0, run=?2, attempts=0, note=null where "+where, int(state), t.run)
	return n, err
}
