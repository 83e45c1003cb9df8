package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Add(ctx context.Context, items []frontier.Item) (added int, err error) {
	load := func(t *tx, b *pgx.Batch) { t.queueLoad(b, items, nil) }
	err = e.writeAfter(ctx, shared, load, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		added = 0
		if err := errors.Join(checkItems(items), t.loaded()); err != nil {
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

// queueLoad queues statements that read the rows and hosts of items, and of the
// links in results, without locks. It assumes that the run of the most recent
// transaction is still the newest run.
func (t *tx) queueLoad(b *pgx.Batch, items []frontier.Item, rs []frontier.Result) {
	t.loadRun = t.e.run.Load()
	wanted, names := map[frontier.Key]bool{}, map[string]bool{}
	want := func(items []frontier.Item) {
		for i := range items {
			if !t.e.seen.Contains(t.loadRun, items[i].Key) {
				wanted[items[i].Key], names[items[i].Host] = true, true
			}
		}
	}
	want(items)
	for i := range rs {
		names[rs[i].Item.Host] = true
		want(rs[i].Children)
	}
	keys := make([][]byte, 0, len(wanted))
	for k := range wanted {
		keys = append(keys, k[:])
	}
	t.lookup(b, keys, "")
	t.known.queue(b, &t.now, hostsByName, sortedKeys(names))
	t.expected = len(wanted)
}

// loaded subtracts the rows that queueLoad has found from t.expected. It
// returns errRetry if queueLoad has assumed an older run.
func (t *tx) loaded() error {
	if t.run != t.loadRun {
		return errRetry
	}
	t.expected -= len(t.rows)
	return nil
}

// lock locks the hosts of demands and then the rows of keys, and reads them
// again. It also reserves numbers for the expected rows and n captures.
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
