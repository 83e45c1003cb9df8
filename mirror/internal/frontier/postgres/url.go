package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Add(ctx context.Context, items []frontier.Item) (added int, err error) {
	return transact(ctx, e, shared, func(t *tx) (added int, err error) {
		t.queueLoad(items, nil)
		if err := t.start(); err != nil {
			return 0, err
		}
		if err := t.loaded(); err != nil {
			return 0, err
		}
		changes, keys := t.changesOf(items, nil, nil)
		if err := t.lock(changes, keys, 0); err != nil {
			return 0, err
		}
		if added, err = t.Add(items); err != nil {
			return 0, err
		}
		lost, err := t.flush(nil)
		return added - lost, err
	})
}

func (e *engine) RequeueItems(ctx context.Context, keys []frontier.Key) (n int64, err error) {
	return transact(ctx, e, exclusive, func(t *tx) (n int64, err error) {
		t.queueURLs(&t.queued, keyList(keys), " for update")
		if err := t.start(); err != nil {
			return 0, err
		}
		hosts := make([]int64, 0, len(t.urls))
		for _, u := range t.urls {
			hosts = append(hosts, u.Host)
		}
		t.queueHosts(&t.queued, t.hosts, fullLock, "where id = any($1) order by id", hosts)
		if err := t.sendQueued(); err != nil {
			return 0, err
		}
		if n, err = t.RequeueItems(keys); err != nil {
			return 0, err
		}
		_, err = t.flush(nil)
		return n, err
	})
}

// FindURL implements rules.Store.
func (t *tx) FindURL(k frontier.Key) (*rules.URL, error) { return t.urls[k], nil }

// InsertURL implements rules.Store. The method flush inserts the row.
func (t *tx) InsertURL(u *rules.URL) error {
	t.urls[u.Key] = u
	t.created = append(t.created, u)
	return nil
}

// UpdateURL implements rules.Store. The method flush writes the row.
func (t *tx) UpdateURL(*rules.URL) error { return nil }

// queueURLs queues a statement that reads the URLs with the given keys. The
// parameter lock is an SQL clause such as " for update".
func (t *tx) queueURLs(b *pgx.Batch, keys [][]byte, lock string) {
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, bytes.Compare)
	const query = "select id, key, state, run, host, prio, depth, attempts from url where key = any($1) order by key"
	queueRows(b, func(r pgx.CollectableRow) (*rules.URL, error) {
		u := new(rules.URL)
		var key []byte
		var state int16
		err := r.Scan(&u.ID, &key, &state, &u.Run, &u.Host, &u.Priority, &u.Depth, &u.Attempts)
		copy(u.Key[:], key)
		u.State = frontier.State(state)
		t.urls[u.Key] = u
		return u, err
	}, query+lock, keys)
}

// queueLoad queues statements that read the URLs and hosts of items, and of the
// links in results, without locks. It assumes that the run of the most recent
// transaction is still the newest run.
func (t *tx) queueLoad(items []frontier.Item, rs []frontier.Result) {
	t.loadRun = t.e.run.Load()
	wanted, names := map[frontier.Key]bool{}, map[string]bool{}
	want := func(items []frontier.Item) {
		for i := range items {
			if !t.Seen.Contains(t.loadRun, items[i].Key) {
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
	t.queueURLs(&t.queued, keys, "")
	t.queueHosts(&t.queued, t.known, noLock, hostsByName, sortedKeys(names))
	t.expected = len(wanted)
}

// loaded subtracts the URLs that queueLoad has found from t.expected. It
// returns errRetry if queueLoad has assumed an older run.
func (t *tx) loaded() error {
	if t.Run != t.loadRun {
		return errRetry
	}
	t.expected -= len(t.urls)
	return nil
}

// changesOf determines which hosts and URLs the method Add will change. It
// appends the hosts to changes, and the keys of the URLs to keys.
func (t *tx) changesOf(items []frontier.Item, changes []hostChange, keys [][]byte) ([]hostChange, [][]byte) {
	for i := range items {
		item := &items[i]
		u, wait := t.urls[item.Key], rules.WaitOf(item.NotBefore, t.Now)
		switch {
		case t.Seen.Contains(t.Run, item.Key):
		case u == nil:
			changes = append(changes, hostChange{name: item.Host, wait: wait})
		case u.Readd(t.Run):
			keys = append(keys, u.Key[:])
			changes = append(changes, hostChange{id: u.Host, wait: wait, share: true, stale: u.State == frontier.Pending})
		}
	}
	return changes, keys
}

// lock locks the hosts of changes and then the URLs of keys, and reads them
// again. It also reserves numbers for the expected URLs and n captures.
func (t *tx) lock(changes []hostChange, keys [][]byte, n int) error {
	if len(changes) == 0 && len(keys) == 0 {
		return nil
	}
	var b pgx.Batch
	if err := t.lockHosts(&b, changes); err != nil {
		return err
	}
	t.queueURLs(&b, keys, " for update")
	t.queueNumbers(&b, t.expected, n)
	t.queueNumber(&b)
	return t.send(&b)
}
