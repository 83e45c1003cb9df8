package sqlite

import (
	"context"
	"database/sql"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Requeue(ctx context.Context, from ...frontier.State) (n int64, err error) {
	return transact(ctx, e, func(t *tx) (int64, error) { return t.Requeue(from) })
}

func (e *engine) RequeueItems(ctx context.Context, keys []frontier.Key) (n int64, err error) {
	return transact(ctx, e, func(t *tx) (int64, error) { return t.RequeueItems(keys) })
}

func (e *engine) Revive(ctx context.Context) (n int64, err error) {
	return transact(ctx, e, (*tx).Revive)
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

// RequeueAll implements rules.Store.
func (t *tx) RequeueAll(state frontier.State, earlier bool) (moved []rules.Requeued, err error) {
	where, args := " where state=?1", []any{int(state), t.Run}
	if earlier {
		where += " and run < ?2 and (state <> 5 or last is not null)"
	}
	err = t.ForEachRow("select host, run=?2, count(*) from url"+where+" group by 1, 2", args, func(r *sqlite.Row) error {
		var m rules.Requeued
		if err := r.Scan(&m.Host, &m.Current, &m.URLs); err != nil {
			return err
		}
		h, err := t.HostOf(m.Host)
		if err != nil {
			return err
		}
		h.Pending += m.URLs
		h.SetReady(sql.NullInt64{})
		moved = append(moved, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, t.Exec("update url set state=0, run=?2, attempts=0, note=null"+where, args...)
}

// IncludeHosts implements rules.Store.
func (t *tx) IncludeHosts() error { return t.Exec("update control set excluded=0") }
