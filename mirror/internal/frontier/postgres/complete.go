package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Complete(ctx context.Context, l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	_, err := transact(ctx, e, shared, func(t *tx) (struct{}, error) { return struct{}{}, t.complete(l, rs, ends) })
	if err == nil {
		for i := range rs {
			delete(l.Outstanding, rs[i].Item.Key)
		}
	}
	return err
}

func (t *tx) complete(l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	t.queueLoad(nil, rs)
	if err := t.start(); err != nil {
		return err
	}
	if err := t.loaded(); err != nil {
		return err
	}
	// All transactions lock their hosts in the same order, so the lease is
	// verified only after its host is locked.
	changes, keys := []hostChange{{name: l.Host, wait: sql.NullInt64{Int64: rules.FarFuture, Valid: true}, share: true}}, [][]byte(nil)
	for i := range rs {
		r := &rs[i]
		keys = append(keys, r.Item.Key[:])
		if r.State == frontier.Pending {
			changes = append(changes, hostChange{name: l.Host, wait: rules.RetryOf(r, t.Now)})
		}
		changes, keys = t.changesOf(r.Children, changes, keys)
	}
	if err := t.lock(changes, keys, countCaptures(rs)); err != nil {
		return err
	}
	h := t.hosts.names[l.Host]
	if h.Epoch != l.Epoch || !h.Until.Valid {
		return frontier.ErrFenced
	}
	if err := t.Complete(&h.Host, rs); err != nil {
		return err
	}
	return t.store(h, rs, ends)
}

func countCaptures(rs []frontier.Result) (n int) {
	for i := range rs {
		if rs[i].Capture != nil {
			n++
		}
	}
	return n
}

// store writes the results to the database.
func (t *tx) store(h *host, rs []frontier.Result, ends map[string]int64) error {
	names, err := namesOf(rs)
	if err != nil {
		return err
	}
	_, err = t.flush(func(b *pgx.Batch) {
		queueNames(b, names)
		t.queueCounters(b, h, rs)
		t.queueLines(b, rs)
	})
	// A worker writes the records of all hosts to the same file. The row of the
	// file is locked late, because other transactions of the worker wait for
	// this lock.
	for _, file := range slices.Sorted(maps.Keys(ends)) {
		t.queued.Queue(`insert into file (name, ends, worker, incarnation) values ($1, $2, $3, $4)
			on conflict (name) do update set ends = greatest(coalesce(file.ends, 0), $2)`,
			file, ends[file], t.e.worker.Name, t.e.worker.Incarnation)
	}
	return err
}

// namesOf returns the names that the results reserve. It returns an error if two
// results reserve the same name for different URLs.
func namesOf(rs []frontier.Result) (map[string]frontier.Key, error) {
	names := map[string]frontier.Key{}
	for i := range rs {
		for _, n := range rs[i].Names {
			if owner, ok := names[n.Fold]; ok && owner != n.Key {
				return nil, errName(n.Fold)
			}
			names[n.Fold] = n.Key
		}
	}
	return names, nil
}

func errName(fold string) error {
	return fmt.Errorf("frontier: the name %q belongs to another URL", fold)
}

// queueNames queues statements that reserve names and then verify their owners.
func queueNames(b *pgx.Batch, names map[string]frontier.Key) {
	if len(names) == 0 {
		return
	}
	folds, keys := make([][]byte, 0, len(names)), make([][]byte, 0, len(names))
	for _, fold := range slices.Sorted(maps.Keys(names)) {
		folds, keys = append(folds, []byte(fold)), append(keys, names[fold].Column())
	}
	b.Queue("insert into name (fold, key) select * from unnest($1::bytea[], $2::bytea[]) on conflict do nothing", folds, keys)
	b.Queue("select fold, key from name where fold = any($1)", folds).Query(func(rows pgx.Rows) (err error) {
		for rows.Next() {
			var fold, key []byte
			err = errors.Join(err, rows.Scan(&fold, &key))
			if owner := names[string(fold)]; err == nil && string(key) != string(owner.Column()) {
				err = errName(string(fold))
			}
		}
		return errors.Join(err, rows.Err())
	})
}
