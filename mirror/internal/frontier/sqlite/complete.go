package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

func (e *engine) Complete(ctx context.Context, l *frontier.Lease, rs []frontier.Result, ends map[string]int64) error {
	err := e.write(ctx, func(t *tx) error {
		h, err := t.leasedHost(l)
		if err != nil {
			return err
		}
		if !t.live {
			return frontier.ErrNoRun
		}
		out := maps.Clone(l.Outstanding)
		for i := range rs {
			if err := t.complete(h, &rs[i], out); err != nil {
				return err
			}
		}
		for i := range rs {
			if _, err := t.add(rs[i].Children); err != nil {
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

// complete records the result r without its Children. The items in the map out
// need no lookup. They are pending, because only Control changes them during
// the lease of h.
func (t *tx) complete(h *host, r *frontier.Result, out map[frontier.Key]int64) (err error) {
	u := &urlRow{id: out[r.Item.Key], state: frontier.Pending, run: t.run, host: h.id}
	if delete(out, r.Item.Key); u.id == 0 || h.control.excluded {
		if u, err = t.lookup(r.Item.Key); err != nil {
			return err
		}
	}
	wait := sql.NullInt64{}
	attempts := 0
	if r.State == frontier.Pending {
		if wait = t.waitColumn(r.Retry); r.Postpone {
			wait = sql.NullInt64{Int64: farFuture, Valid: true}
		}
		attempts = 1
	}
	before := *u
	if u.id == 0 {
		of, err := t.create(u, &r.Item, r.State, wait)
		if err != nil {
			return err
		}
		u.host = of.id
	}
	if u.host != h.id {
		return fmt.Errorf("frontier: %s is not a URL of the leased host", r.Item.URL)
	}
	last := sql.NullInt64{}
	if r.Capture != nil {
		if last.Int64, err = t.capture(u.id, r); err != nil {
			return err
		}
		last.Valid = true
	}
	err = t.Exec(`update url set state=?1, attempts=iif(run=?2, attempts, 0)+?3, run=?2, wait=?4,
		note=nullif(?5, ''), last=coalesce(?6, last), meta=coalesce(?7, meta), prio=prio+?8 where id=?9`,
		int(r.State), t.run, attempts, wait, r.Note, last, r.Meta, r.Defer, u.id)
	if err != nil {
		return err
	}
	was := before.id != 0 && before.state == frontier.Pending
	switch is := r.State == frontier.Pending; {
	case is && !was:
		h.addPending(1)
		h.setReady(wait)
	case is:
		h.setReady(wait)
	case was:
		h.removePending()
	}
	t.countMove(&before, r.State)
	if r.Line != nil {
		if err := t.Exec("insert into unlogged (line) values (?)", r.Line); err != nil {
			return err
		}
	}
	return t.claimNames(r.Names)
}

// capture inserts a row for r.Capture and returns its row number.
func (t *tx) capture(item int64, r *frontier.Result) (int64, error) {
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
		var err error
		if file.Int64, err = t.file(c.File); err != nil {
			return 0, err
		}
		file.Valid = true
		sum = sql.NullInt64{Int64: sumOf(c.Digest), Valid: digest != nil}
	}
	t.captures++
	t.bytes += c.Size
	return t.insert(`insert into capture (item, key, url, run, time, kind, media, code, size,
		digest, sum, validator, modified, path, file, at, bytes, record, proof, checksum)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		item, key, url, c.Run, nullTime(c.Time), c.Kind, c.Media, c.Code, c.Size,
		digest, sum, c.Validator, nullTime(c.Modified), c.Path, file, c.Offset, c.Length, c.ID, c.Proof,
		sql.NullInt64{Int64: int64(c.Checksum), Valid: c.Checksum != 0})
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
		key := keyColumn(n.Key)
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
