package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

func (e *engine) Complete(ctx context.Context, l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	err := e.write(ctx, func(t *tx) error {
		h, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		t.claimed = l.Outstanding
		if err := t.Complete(&h.Host, rs); err != nil {
			return err
		}
		for i := range rs {
			if err := t.addLine(&rs[i]); err != nil {
				return err
			}
		}
		if err := t.addCounters(h, rs); err != nil {
			return err
		}
		for name, end := range ends {
			err := t.Exec(`insert into file (name, ends) values (?1, ?2)
				on conflict (name) do update set ends = max(coalesce(ends, 0), ?2)`, name, end)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		for i := range rs {
			delete(l.Outstanding, rs[i].Item.Key)
		}
	}
	return err
}

// addLine stores the line and the names of a result.
func (t *tx) addLine(r *frontier.Result) error {
	if r.Line != nil {
		if err := t.Exec("insert into unlogged (line) values (?)", r.Line); err != nil {
			return err
		}
	}
	return t.claimNames(r.Names)
}

// InsertCapture implements rules.Store.
func (t *tx) InsertCapture(u *rules.URL, r *frontier.Result) (err error) {
	c := r.Capture
	var key []byte
	var url any
	if c.Key != r.Item.Key || c.URL != r.Item.URL {
		key, url = c.Key[:], c.URL
	}
	var digest []byte
	if c.Digest != [32]byte{} {
		digest = c.Digest[:]
	}
	var file, sum sql.NullInt64
	if c.File != "" {
		if file.Int64, err = t.file(c.File); err != nil {
			return err
		}
		file.Valid = true
		sum = sql.NullInt64{Int64: sumOf(c.Digest), Valid: digest != nil}
	}
	u.Last.Int64, err = t.insert(`insert into capture (item, key, url, run, time, kind, media, code, size,
		digest, sum, validator, modified, path, file, at, bytes, record, proof, checksum)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		u.ID, key, url, c.Run, rules.NullTime(c.Time), c.Kind, c.Media, c.Code, c.Size,
		digest, sum, c.Validator, rules.NullTime(c.Modified), c.Path, file, c.Offset, c.Length, c.ID, c.Proof,
		sql.NullInt64{Int64: int64(c.Checksum), Valid: c.Checksum != 0})
	u.Last.Valid = true
	return err
}

// file returns the row number of a WARC file. It inserts a row if necessary.
func (t *tx) file(name string) (id int64, err error) {
	if id := t.files[name]; id != 0 {
		return id, nil
	}
	err = t.Scan("select id from file where name=?", []any{name}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = t.insert("insert into file (name) values (?)", name)
	}
	if err == nil {
		t.files[name] = id
	}
	return id, err
}

// sumOf returns the first 8 bytes of digest as an integer, for the indexed
// column sum.
func sumOf(digest [32]byte) int64 { return int64(binary.BigEndian.Uint64(digest[:])) }

// claimNames reserves paths in the tree. It returns an error if a path belongs
// to another URL.
func (t *tx) claimNames(names []frontier.Name) error {
	for _, n := range names {
		key := n.Key.Column()
		if err := t.Exec("insert into name (fold, key) values (?, ?) on conflict do nothing", n.Fold, key); err != nil {
			return err
		}
		if t.Changes() > 0 {
			continue
		}
		var has []byte
		if err := t.Scan("select key from name where fold=?", []any{n.Fold}, &has); err != nil {
			return err
		}
		if !bytes.Equal(has, key) {
			return fmt.Errorf("frontier: the name %q belongs to another URL", n.Fold)
		}
	}
	return nil
}
