package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Add(ctx context.Context, items []frontier.Item) (added int, err error) {
	return transact(ctx, e, func(t *tx) (int, error) { return t.Add(items) })
}

// FindURL implements rules.Store. It finds a claimed URL by its row number.
func (t *tx) FindURL(k frontier.Key) (*rules.URL, error) {
	const query = "select id, state, run, host, prio, depth, attempts from url where "
	where, arg := query+"key=?", any(k[:])
	if id := t.claimed[k]; id != 0 {
		where, arg = query+"id=?", id
	}
	f := &t.found
	err := t.Scan(where, []any{arg},
		&f.ID, (*uint8)(&f.State), &f.Run, &f.Host, &f.Priority, &f.Depth, &f.Attempts)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	u := *f
	u.Key = k
	return &u, err
}

// InsertURL implements rules.Store.
func (t *tx) InsertURL(u *rules.URL) (err error) {
	u.ID, err = t.insert(`insert into url (key, state, run, host, prio, depth, wait, via, url, meta)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		u.Key[:], int(u.State), u.Run, u.Host, u.Priority, u.Depth, u.Wait, u.Item.Via.Column(), u.Item.URL, u.Meta)
	return err
}

// UpdateURL implements rules.Store.
func (t *tx) UpdateURL(u *rules.URL) error {
	return t.Exec(`update url set state=?, run=?, prio=?, depth=?, attempts=?, wait=?, note=nullif(?, ''),
		last=coalesce(?, last), meta=iif(?, ?, meta) where id=?`,
		int(u.State), u.Run, u.Priority, u.Depth, u.Attempts, u.Wait, u.Note, u.Last, u.SetMeta, u.Meta, u.ID)
}
