package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// urlRow contains the columns of a URL that are needed to change its state.
type urlRow struct {
	id    int64 // row number, or 0 for a new URL
	state frontier.State
	run   int64
	host  int64
}

func (e *engine) Add(ctx context.Context, items []frontier.Item) (added int, err error) {
	err = e.write(ctx, func(t *tx) error {
		if !t.live {
			return frontier.ErrNoRun
		}
		added, err = t.add(items)
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// add adds items to the active run. It returns the number of items that became
// pending.
func (t *tx) add(items []frontier.Item) (added int, err error) {
	for i := range items {
		item := &items[i]
		if t.seen.Contains(t.run, item.Key) {
			continue
		}
		isNew, err := t.addItem(item)
		if err != nil {
			return 0, err
		}
		if isNew {
			added++
		}
	}
	return added, nil
}

// addItem adds one item to the active run and reports whether it became
// pending.
func (t *tx) addItem(item *frontier.Item) (added bool, err error) {
	full, err := t.hostFull(item)
	if err != nil {
		return false, err
	}
	if t.run == 1 && !full { // nearly all URLs of the first run are new, so try an insert without a lookup
		if added, err = t.addNew(item); added || err != nil {
			return added, err
		}
	}
	u, err := t.lookup(item.Key)
	if err != nil {
		return false, err
	}
	if full && u.id == 0 {
		t.dropped++
		return false, nil
	}
	t.newKeys = append(t.newKeys, item.Key)
	if u.id != 0 && (u.run == t.run || u.state == frontier.Kept) {
		return false, nil
	}
	return true, t.makePending(u, item)
}

// addNew makes the item pending if the database has no row with its key.
// Otherwise it returns false and changes nothing.
func (t *tx) addNew(item *frontier.Item) (added bool, err error) {
	u := &urlRow{}
	wait := t.waitColumn(item.NotBefore)
	h, err := t.create(u, item, frontier.Pending, wait)
	if err != nil || u.id == 0 {
		return false, err
	}
	t.newKeys = append(t.newKeys, item.Key)
	t.countMove(&urlRow{}, frontier.Pending)
	h.addPending(1)
	h.setReady(wait)
	return true, nil
}

// hostFull reports whether the host of a new item has reached the limit of
// pending URLs. The limit does not apply to seeds, which have no Via.
func (t *tx) hostFull(item *frontier.Item) (bool, error) {
	if t.limit <= 0 || item.Via.IsZero() || item.Host == "" {
		return false, nil
	}
	h, err := t.host(item.Host)
	return err == nil && h.pending >= t.limit, err
}

// makePending makes the item pending in the active run. The parameter u is the
// row of the item.
func (t *tx) makePending(u *urlRow, item *frontier.Item) error {
	wait := t.waitColumn(item.NotBefore)
	t.countMove(u, frontier.Pending)
	if u.id == 0 {
		h, err := t.create(u, item, frontier.Pending, wait)
		if err != nil {
			return err
		}
		h.addPending(1)
		h.setReady(wait)
		return nil
	}
	err := t.Exec(`update url set state=0, run=?1, prio=iif(state in (0, ?7), max(prio, ?2), ?2), depth=?3, attempts=0,
		wait=?4, meta=?5, note=null where id=?6`, t.run, item.Priority, item.Depth, wait, item.Meta, u.id, int(frontier.Dead))
	if err != nil {
		return err
	}
	h, err := t.hostOf(u.host)
	if err != nil {
		return err
	}
	if u.state == frontier.Pending {
		h.stale = true // this URL may have determined the time at which the host is due
		return nil
	}
	h.addPending(1)
	h.setReady(wait)
	return nil
}

// create inserts a row for the item, sets u.id, and returns the host of the
// item. If the table already contains the key of the item, u.id remains 0.
func (t *tx) create(u *urlRow, item *frontier.Item, state frontier.State, wait sql.NullInt64) (*host, error) {
	if item.URL == "" || item.Host == "" {
		return nil, fmt.Errorf("frontier: item has no URL or no host: URL %q, host %q", item.URL, item.Host)
	}
	h, err := t.host(item.Host)
	if err != nil {
		return nil, err
	}
	if item.Key.IsZero() {
		return nil, errNoKey
	}
	id, err := t.insert(`insert into url (key, state, run, host, prio, depth, wait, via, url, meta)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing`,
		item.Key[:], int(state), t.run, h.id, item.Priority, item.Depth, wait, keyColumn(item.Via), item.URL, item.Meta)
	if err == nil && t.Changes() > 0 {
		u.id = id
	}
	return h, err
}

var errNoKey = errors.New("frontier: item has no key")

// lookup returns the row of the URL with the key k. If there is no row, lookup
// returns an urlRow with the id 0.
func (t *tx) lookup(k frontier.Key) (*urlRow, error) {
	if k.IsZero() {
		return nil, errNoKey
	}
	u := new(urlRow)
	err := t.Scan("select id, state, run, host from url where key=?", []any{k[:]},
		&u.id, (*uint8)(&u.state), &u.run, &u.host)
	if errors.Is(err, sql.ErrNoRows) {
		return u, nil
	}
	return u, err
}

// keyColumn returns the value of a key column. It returns nil, which is stored
// as null, for the zero Key.
func keyColumn(k frontier.Key) []byte {
	if k.IsZero() {
		return nil
	}
	return k[:]
}

// farFuture is the value in the column "wait" of a postponed item. It is also
// the value in the column "due" of a host that has only postponed items.
const farFuture = 1<<63 - 1

// waitColumn returns the value in the column "wait" of an item that must not be
// visited before the time until. If this time has passed, the value is null.
func (t *tx) waitColumn(until time.Time) sql.NullInt64 {
	w := nullTime(until)
	if w.Int64 <= t.now {
		return sql.NullInt64{}
	}
	return w
}
