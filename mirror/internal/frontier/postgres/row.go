package postgres

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// row is a row of the table url. The transaction changes rows in memory and
// writes them at its end.
type row struct {
	id       int64
	key      frontier.Key
	state    frontier.State
	run      int64
	host     int64
	prio     int
	depth    int
	attempts int
	wait     pgtype.Int8
	last     pgtype.Int8
	note     []byte
	meta     []byte // new value of the column meta, if setMeta is true
	setMeta  bool

	item    *frontier.Item // item of a new row, or nil
	visited bool           // if true, the row belongs to a Result, not only to a link
	changed bool
}

const rowColumns = "select id, key, state, run, host, prio, depth, attempts, wait, last, note from url "

// lookup queues a statement that reads the rows of keys into t.rows. The
// parameter lock is an SQL clause such as "for update".
func (t *tx) lookup(b *pgx.Batch, keys [][]byte, lock string) {
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, bytes.Compare)
	b.Queue(rowColumns+"where key = any($1) order by key "+lock, keys).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			r := new(row)
			var key []byte
			var state int16
			err := rows.Scan(&r.id, &key, &state, &r.run, &r.host, &r.prio, &r.depth, &r.attempts, &r.wait, &r.last, &r.note)
			if err != nil {
				return err
			}
			copy(r.key[:], key)
			r.state = frontier.State(state)
			t.rows[r.key] = r
		}
		return rows.Err()
	})
}

// readd reports whether Add makes the URL pending again: an earlier run added
// the URL, and it is not immutable.
func (t *tx) readd(r *row) bool { return r.run != t.run && r.state != frontier.Kept }

// demandsOf determines which hosts and rows the method add will change. It
// appends the hosts to demands, and the keys of the rows to keys.
func (t *tx) demandsOf(items []frontier.Item, demands []demand, keys [][]byte) ([]demand, [][]byte) {
	for i := range items {
		item := &items[i]
		r := t.rows[item.Key]
		switch {
		case t.e.seen.Contains(t.run, item.Key):
		case r == nil:
			demands = append(demands, demand{name: item.Host, wait: t.waitColumn(item.NotBefore)})
		case t.readd(r):
			keys = append(keys, r.key[:])
			demands = append(demands, demand{id: r.host, wait: t.waitColumn(item.NotBefore), share: true, stale: r.state == frontier.Pending})
		}
	}
	return demands, keys
}

// checkItem returns an error if a new item has no key, no URL or no host.
func checkItem(item *frontier.Item) error {
	switch {
	case item.Key.IsZero():
		return fmt.Errorf("frontier: item has no key: URL %q", item.URL)
	case item.URL == "" || item.Host == "":
		return fmt.Errorf("frontier: item has no URL or no host: URL %q, host %q", item.URL, item.Host)
	}
	return nil
}

// add adds items to the active run, in memory. It returns the number of items
// that became pending.
func (t *tx) add(items []frontier.Item) (added int, err error) {
	for i := range items {
		item := &items[i]
		if t.e.seen.Contains(t.run, item.Key) {
			continue
		}
		r := t.rows[item.Key]
		if full, err := t.hostFull(r, item); full || err != nil {
			if t.dropped++; err != nil {
				return 0, err
			}
			continue
		}
		t.newKeys = append(t.newKeys, item.Key)
		if r != nil && !t.readd(r) {
			continue
		}
		if err := t.makePending(r, item); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// hostFull reports whether the host of a new item has reached the limit of
// pending URLs. The parameter r is the row of the item, or nil.
func (t *tx) hostFull(r *row, item *frontier.Item) (bool, error) {
	if t.limit <= 0 || r != nil || item.Via.IsZero() {
		return false, nil
	}
	h := t.hosts[item.Host]
	if h == nil {
		return false, errRetry
	}
	if !h.counted && t.e.rooms.below(h.id, t.limit) {
		h.added++
		return false, nil
	}
	if !h.counted {
		h.counted = true
		var stored int64
		err := t.QueryRow(t.ctx, "select count(*) from (select from url where host = $1 and state = 0 limit $2) u",
			h.id, t.limit+int64(len(t.rows))).Scan(&stored)
		if err != nil {
			return false, err
		}
		t.e.rooms.set(h.id, stored)
		h.pending += stored // the database does not contain the changes of this transaction yet
	}
	if h.pending >= t.limit {
		return true, nil
	}
	h.added++
	return false, nil
}

// makePending makes an item pending in the active run. The parameter r is the row
// of the item, or nil.
func (t *tx) makePending(r *row, item *frontier.Item) error {
	wait := t.waitColumn(item.NotBefore)
	if r == nil {
		h := t.hosts[item.Host]
		if h == nil {
			return errRetry
		}
		t.newRow(item, h, frontier.Pending).wait = wait
		return h.setReady(wait)
	}
	h := t.ids[r.host]
	if h == nil {
		return errRetry
	}
	was, prio := r.state, item.Priority
	if was == frontier.Pending || was == frontier.Dead {
		prio = max(prio, r.prio)
	}
	t.move(r, frontier.Pending)
	r.run, r.prio, r.depth, r.attempts, r.wait, r.note = t.run, prio, item.Depth, 0, wait, nil
	r.meta, r.setMeta = item.Meta, true
	if was == frontier.Pending {
		return h.setStale() // this URL may have determined the time at which the host is due
	}
	return h.setReady(wait)
}

// newRow adds a row for an item. The transaction inserts the row at its end.
func (t *tx) newRow(item *frontier.Item, h *host, state frontier.State) *row {
	r := &row{
		key: item.Key, state: state, run: t.run, host: h.id, prio: item.Priority, depth: item.Depth,
		meta: item.Meta, item: item, changed: true,
	}
	t.rows[item.Key] = r
	t.created = append(t.created, r)
	t.tally.urls++
	t.tally.states[state]++
	h.addPending(state, 1)
	return r
}

// move changes the state of a row and the totals.
func (t *tx) move(r *row, to frontier.State) {
	h := t.ids[r.host]
	h.addPending(r.state, -1)
	h.addPending(to, 1)
	t.countMove(r, to)
	r.state, r.changed = to, true
}

// countMove updates the totals for a row whose state changes.
func (t *tx) countMove(r *row, to frontier.State) {
	switch {
	case r.state == frontier.Pending || r.run == t.run:
		t.tally.states[r.state]--
	case r.state == frontier.Done:
		t.tally.before--
	}
	t.tally.states[to]++
}

// addPending adds n to the number of pending URLs if state is Pending.
func (h *host) addPending(state frontier.State, n int64) {
	if state == frontier.Pending {
		h.pending += n
	}
}

// waitColumn returns the value in the column "wait" of an item that must not be
// visited before the time until. If this time has passed, the value is null.
func (t *tx) waitColumn(until time.Time) pgtype.Int8 {
	n := nullTime(until)
	if n == nil || *n <= t.now {
		return pgtype.Int8{}
	}
	return pgtype.Int8{Int64: *n, Valid: true}
}

func keyColumn(k frontier.Key) []byte {
	if k.IsZero() {
		return nil
	}
	return k[:]
}
