package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/frontier"
)

func (e *engine) Add(ctx context.Context, items []frontier.Item) (added int, err error) {
	err = e.write(ctx, shared, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		added = 0
		if err := errors.Join(checkItems(items), t.load(items, nil)); err != nil {
			return err
		}
		demands, keys := t.demandsOf(items, nil, nil)
		if err := t.lock(demands, keys, 0); err != nil {
			return err
		}
		if added, err = t.add(items); err != nil {
			return err
		}
		lost, err := t.flush(nil)
		added -= lost
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

func checkItems(items []frontier.Item) error {
	for i := range items {
		if err := checkItem(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// load reads the rows of items and of results without locks.
func (t *tx) load(items []frontier.Item, rs []frontier.Result) error {
	wanted, names := map[frontier.Key]bool{}, map[string]bool{}
	want := func(items []frontier.Item) {
		for i := range items {
			if !t.e.seen.Contains(t.run, items[i].Key) {
				wanted[items[i].Key], names[items[i].Host] = true, true
			}
		}
	}
	want(items)
	for i := range rs {
		wanted[rs[i].Item.Key], names[rs[i].Item.Host] = true, true
		want(rs[i].Children)
	}
	keys := make([][]byte, 0, len(wanted))
	for k := range wanted {
		keys = append(keys, k[:])
	}
	var b pgx.Batch
	t.lookup(&b, keys, "")
	t.known.queue(&b, t.now, hostsByName, sortedKeys(names))
	if err := t.send(&b); err != nil {
		return err
	}
	t.expected = len(wanted) - len(t.rows)
	return nil
}

// lock locks the hosts of demands and then the rows of keys, and reads them
// again.
// It also reserves numbers for the expected rows and n captures.
func (t *tx) lock(demands []demand, keys [][]byte, n int) error {
	if len(demands) == 0 && len(keys) == 0 {
		return nil
	}
	var b pgx.Batch
	if err := t.lockHosts(&b, demands); err != nil {
		return err
	}
	t.lookup(&b, keys, "for update")
	t.queueNumbers(&b, t.expected, n)
	t.queueNumber(&b)
	return t.send(&b)
}
