package frontier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// urlRow is what a change of a URL has to know of it.
type urlRow struct {
	id    int64 // 0: it is new
	state State
	run   int64
	host  int64
}

func (e *engine) Add(ctx context.Context, items []Item) (added int, err error) {
	err = e.write(ctx, func(t *tx) error {
		if !t.live {
			return errNoRun
		}
		added, err = t.add(items)
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// add puts items into the run.
func (t *tx) add(items []Item) (added int, err error) {
	for i := range items {
		item := &items[i]
		if t.seen.has(t.run, item.Key) {
			continue
		}
		u, err := t.lookup(item.Key)
		if err != nil {
			return 0, err
		}
		if full, err := t.full(u, item); full || err != nil {
			if t.dropped++; err != nil {
				return 0, err
			}
			continue
		}
		t.met = append(t.met, item.Key)
		if u.id != 0 && (u.run == t.run || u.state == Kept) {
			continue
		}
		if err := t.put(u, item); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// full reports whether the host of item, whose row is u, has no room for it.
func (t *tx) full(u *urlRow, item *Item) (bool, error) {
	if t.limit <= 0 || u.id != 0 || item.Via.IsZero() || item.Host == "" {
		return false, nil
	}
	h, err := t.host(item.Host)
	return err == nil && h.pending >= t.limit, err
}

// put makes item pending.
func (t *tx) put(u *urlRow, item *Item) error {
	wait := t.wait(item.NotBefore)
	t.move(u, Pending)
	if u.id == 0 {
		h, err := t.create(u, item, Pending, wait)
		if err != nil {
			return err
		}
		h.gain(1)
		h.ready(wait)
		return nil
	}
	err := t.Exec("update url set state=0, run=?, prio=?, depth=?, attempts=0, wait=?, meta=?, note=null where id=?",
		t.run, item.Priority, item.Depth, wait, item.Meta, u.id)
	if err != nil {
		return err
	}
	h, err := t.hostOf(u.host)
	if err != nil {
		return err
	}
	if u.state == Pending {
		h.stale = true // what it was due for may be what has changed
		return nil
	}
	h.gain(1)
	h.ready(wait)
	return nil
}

// create makes the row of an item.
func (t *tx) create(u *urlRow, item *Item, state State, wait sql.NullInt64) (*host, error) {
	if item.URL == "" || item.Host == "" {
		return nil, fmt.Errorf("frontier: an item without a URL or a host: %q at %q", item.URL, item.Host)
	}
	h, err := t.host(item.Host)
	if err != nil {
		return nil, err
	}
	u.id, err = t.insert("insert into url (key, state, run, host, prio, depth, wait, via, url, meta) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		item.Key[:], int(state), t.run, h.id, item.Priority, item.Depth, wait, keyColumn(item.Via), item.URL, item.Meta)
	return h, err
}

// lookup finds what the tables say of k.
func (t *tx) lookup(k Key) (*urlRow, error) {
	if k.IsZero() {
		return nil, errors.New("frontier: an item without a key")
	}
	u := new(urlRow)
	err := t.Scan("select id, state, run, host from url where key=?", []any{k[:]}, &u.id, (*uint8)(&u.state), &u.run, &u.host)
	if errors.Is(err, sql.ErrNoRows) {
		return u, nil
	}
	return u, err
}

// keyColumn is a column that is null where there is no key.
func keyColumn(k Key) []byte {
	if k.IsZero() {
		return nil
	}
	return k[:]
}

// never is the wait of an item that is parked, and the due of a host that has
// nothing else.
const never = 1<<63 - 1

// wait is the column of that name: null from until on.
func (t *tx) wait(until time.Time) sql.NullInt64 {
	w := nullTime(until)
	if w.Int64 <= t.now {
		return sql.NullInt64{}
	}
	return w
}
