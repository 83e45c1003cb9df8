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
	id    int64
	item  bool // and not only referred to
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
		u, err := t.lookup(item.Key)
		if err != nil {
			return 0, err
		}
		if u.item && (u.run == t.run || u.state == Kept) {
			continue
		}
		if err := t.put(u, item); err != nil {
			return 0, err
		}
		added++
	}
	return added, nil
}

// put makes item pending.
func (t *tx) put(u *urlRow, item *Item) error {
	wait := t.wait(item.NotBefore)
	var h *host
	var err error
	if u.item {
		h, err = t.hostOf(u.host)
		if err == nil {
			_, err = t.exec("update url set state=0, run=?, prio=?, depth=?, attempts=0, wait=?, meta=?, note=null where id=?",
				t.run, item.Priority, item.Depth, wait, item.Meta, u.id)
		}
	} else {
		h, err = t.create(u, item, Pending, wait)
	}
	if err != nil {
		return err
	}
	if !u.item || u.state != Pending {
		h.gain(1)
	}
	h.ready(wait)
	t.move(u, Pending)
	return nil
}

// create makes the row of an item that had none, or was only referred to.
func (t *tx) create(u *urlRow, item *Item, state State, wait sql.NullInt64) (*host, error) {
	if item.URL == "" || item.Host == "" {
		return nil, fmt.Errorf("frontier: an item without a URL or a host: %q at %q", item.URL, item.Host)
	}
	h, err := t.host(item.Host)
	if err != nil {
		return nil, err
	}
	var via sql.NullInt64
	if !item.Via.IsZero() {
		if via.Int64, err = t.refer(item.Via); err != nil {
			return nil, err
		}
		via.Valid = true
	}
	if u.id == 0 && item.Via == item.Key {
		u.id = via.Int64
	}
	if u.id != 0 {
		_, err = t.exec("update url set state=?, run=?, host=?, prio=?, depth=?, wait=?, via=?, url=?, meta=? where id=?",
			state, t.run, h.id, item.Priority, item.Depth, wait, via, item.URL, item.Meta, u.id)
		return h, err
	}
	u.id, err = t.insert("insert into url (key, state, run, host, prio, depth, wait, via, url, meta) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		item.Key[:], state, t.run, h.id, item.Priority, item.Depth, wait, via, item.URL, item.Meta)
	t.ids[item.Key] = u.id
	return h, err
}

// lookup finds what the tables say of k.
func (t *tx) lookup(k Key) (*urlRow, error) {
	if k.IsZero() {
		return nil, errors.New("frontier: an item without a key")
	}
	var state sql.NullInt64
	u := new(urlRow)
	err := t.scan("select id, state, run, host from url where key=?", []any{k[:]}, &u.id, &state, &u.run, &u.host)
	if errors.Is(err, sql.ErrNoRows) {
		return u, nil
	}
	u.item, u.state = state.Valid, State(state.Int64)
	return u, err
}

// refer finds or makes the row of k, to which something is to refer.
func (t *tx) refer(k Key) (int64, error) {
	if id := t.ids[k]; id != 0 {
		return id, nil
	}
	var id int64
	err := t.scan("select id from url where key=?", []any{k[:]}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = t.insert("insert into url (key) values (?)", k[:])
	}
	if err == nil {
		t.ids[k] = id
	}
	return id, err
}

// wait is the column of that name: null from until on.
func (t *tx) wait(until time.Time) sql.NullInt64 {
	w := nullTime(until)
	if w.Int64 <= t.now {
		return sql.NullInt64{}
	}
	return w
}
