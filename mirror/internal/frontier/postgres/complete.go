package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Complete(ctx context.Context, l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	load := func(t *tx, b *pgx.Batch) { t.queueLoad(b, nil, rs) }
	err := e.writeAfter(ctx, shared, load, func(t *tx) error { return t.complete(l, rs, ends) })
	if err == nil {
		for i := range rs {
			delete(l.Outstanding, rs[i].Item.Key)
		}
	}
	return err
}

func (t *tx) complete(l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	for i := range rs {
		if err := checkItems(rs[i].Children); err != nil {
			return err
		}
	}
	if err := t.loaded(); err != nil {
		return err
	}
	// All transactions lock their hosts in the same order, so the lease is
	// verified only after its host is locked.
	demands, keys := []demand{{name: l.Host, wait: pgtype.Int8{Int64: farFuture, Valid: true}, share: true}}, [][]byte(nil)
	for i := range rs {
		r := &rs[i]
		keys = append(keys, r.Item.Key[:])
		if r.State == frontier.Pending {
			demands = append(demands, demand{name: l.Host, wait: t.retryColumn(r)})
		}
		demands, keys = t.demandsOf(r.Children, demands, keys)
	}
	if err := t.lock(demands, keys, countCaptures(rs)); err != nil {
		return err
	}
	h := t.hosts[l.Host]
	switch {
	case h.epoch != l.Epoch || !h.until.Valid:
		return frontier.ErrFenced
	case !t.live:
		return frontier.ErrNoRun
	}
	for i := range rs {
		if err := t.result(h, &rs[i]); err != nil {
			return err
		}
	}
	for i := range rs {
		if _, err := t.add(rs[i].Children); err != nil {
			return err
		}
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
		t.last.Queue(`insert into file (name, ends, worker, incarnation) values ($1, $2, $3, $4)
			on conflict (name) do update set ends = greatest(coalesce(file.ends, 0), $2)`,
			file, ends[file], t.e.worker.Name, t.e.worker.Incarnation)
	}
	return err
}

// retryColumn returns the value in the column "wait" for a result with the
// state Pending.
func (t *tx) retryColumn(r *frontier.Result) pgtype.Int8 {
	if r.Postpone {
		return pgtype.Int8{Int64: farFuture, Valid: true}
	}
	return t.waitColumn(r.Retry)
}

// result records a result for the host h in memory, without its links.
func (t *tx) result(h *host, r *frontier.Result) error {
	u := t.rows[r.Item.Key]
	if u == nil {
		if err := checkItem(&r.Item); err != nil {
			return err
		}
		if r.Item.Host != h.name {
			return fmt.Errorf("frontier: %s is not a URL of the leased host", r.Item.URL)
		}
		u = t.newRow(&r.Item, h, r.State)
	} else {
		if u.host != h.id {
			return fmt.Errorf("frontier: %s is not a URL of the leased host", r.Item.URL)
		}
		if u.run != t.run {
			u.attempts = 0
		}
		t.move(u, r.State)
	}
	u.run, u.wait, u.note, u.visited = t.run, pgtype.Int8{}, nullBytes(r.Note), true
	if r.Defer {
		u.prio++
	}
	if r.Meta != nil {
		u.meta, u.setMeta = r.Meta, true
	}
	if r.Capture != nil {
		t.captures = append(t.captures, &newCapture{of: u, item: &r.Item, Capture: r.Capture})
		t.tally.captures++
		t.tally.bytes += r.Capture.Size
	}
	if r.State != frontier.Pending {
		return nil
	}
	u.attempts++
	u.wait = t.retryColumn(r)
	return h.setReady(u.wait)
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
		folds, keys = append(folds, []byte(fold)), append(keys, keyColumn(names[fold]))
	}
	b.Queue("insert into name (fold, key) select * from unnest($1::bytea[], $2::bytea[]) on conflict do nothing", folds, keys)
	b.Queue("select fold, key from name where fold = any($1)", folds).Query(func(rows pgx.Rows) (err error) {
		for rows.Next() {
			var fold, key []byte
			err = errors.Join(err, rows.Scan(&fold, &key))
			if owner := names[string(fold)]; err == nil && string(key) != string(keyColumn(owner)) {
				err = errName(string(fold))
			}
		}
		return errors.Join(err, rows.Err())
	})
}
