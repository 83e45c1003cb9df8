package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// pageRows is the number of rows that an iteration reads in one transaction.
// Between two transactions, SQLite can copy its write-ahead log to the
// database.
const pageRows = 128

// pageBytes is the size of the texts and blobs after which an iteration ends a
// page, because each row of an untrusted database can have sqlite.MaxRow bytes.
const pageBytes = 4 << 20

// errPageFull ends the query of a page that has pageBytes.
var errPageFull = errors.New("the page is full")

// itemColumns lists the columns that scanItem reads from the table url, whose
// alias is u. A query must append a column with the name of the host.
const itemColumns = "u.id, u.key, u.url, u.via, u.depth, u.prio, u.wait, u.meta, u.run, u.attempts, u.note, u.last, "

// scanItem reads an item from a row of the database. It returns the item and
// its row number.
func (s *session) scanItem(r *sqlite.Row, run int64) (item frontier.Item, id int64, err error) {
	var key, via []byte
	var wait, last sql.NullInt64
	var seen int64
	err = r.Scan(&id, &key, &item.URL, &via, &item.Depth, &item.Priority, &wait, &item.Meta, &seen,
		&item.Attempts, &item.Note, &last, &item.Host)
	if err != nil {
		return item, 0, err
	}
	copy(item.Key[:], key)
	copy(item.Via[:], via)
	if wait.Int64 != int64(rules.FarFuture) {
		item.NotBefore = rules.TimeOf(wait)
	}
	if item.Run = seen; seen != run {
		item.Attempts = 0
	}
	if last.Valid {
		var c frontier.Capture
		c, err = s.captureOf("c.id=?", last.Int64)
		item.LastCapture = &c
	}
	return item, id, err
}

// newestRun returns the number of the last run that was started.
func (s *session) newestRun() (run int64, err error) {
	err = s.Scan("select run from book", nil, &run)
	return run, err
}

// captureColumns lists the columns that scanCapture reads, and their tables.
const captureColumns = `c.id, coalesce(c.key, u.key), coalesce(c.url, u.url), c.run, c.time,
	c.kind, c.media, c.code, c.size, c.digest, c.validator, c.modified, c.path,
	coalesce(f.name, ''), c.at, c.bytes, c.record, c.proof, coalesce(c.checksum, 0) from capture c join url u on u.id = c.item left join file f on f.id = c.file`

func scanCapture(scan func(...any) error) (c frontier.Capture, id int64, err error) {
	var key, digest []byte
	var at, modified sql.NullInt64
	var checksum int64
	err = scan(&id, &key, &c.URL, &c.Run, &at, &c.Kind, &c.Media, &c.Code, &c.Size, &digest,
		&c.Validator, &modified, &c.Path, &c.File, &c.Offset, &c.Length, &c.ID, &c.Proof, &checksum)
	copy(c.Key[:], key)
	copy(c.Digest[:], digest)
	c.Time, c.Modified = rules.TimeOf(at), rules.TimeOf(modified)
	c.Checksum = uint32(checksum)
	return c, id, err
}

// captureOf returns the capture that matches an SQL condition. If no capture
// matches, the error is sql.ErrNoRows.
func (s *session) captureOf(where string, args ...any) (frontier.Capture, error) {
	c, _, err := scanCapture(func(to ...any) error {
		return s.Scan("select "+captureColumns+" where "+where, args, to...)
	})
	return c, err
}

// pages returns an iterator over rows in the order of their ids. It calls fill
// to read the next page, which contains rows with ids greater than after.
func pages[T any](ctx context.Context, e *engine,
	fill func(s *session, after int64, add func(r *sqlite.Row, row T, id int64) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var after int64
		for {
			var rows []T
			bytes := 0
			err := e.read(ctx, func(s *session) error {
				err := fill(s, after, func(r *sqlite.Row, row T, id int64) error {
					rows = append(rows, row)
					after = id
					if bytes += r.Bytes(); bytes >= pageBytes {
						return errPageFull
					}
					return nil
				})
				if err == errPageFull {
					return nil
				}
				return err
			})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < pageRows && bytes < pageBytes {
				return
			}
		}
	}
}

func (e *engine) itemsWhere(ctx context.Context, where string, arg any) iter.Seq2[frontier.Item, error] {
	return pages(ctx, e, func(s *session, after int64, add func(*sqlite.Row, frontier.Item, int64) error) error {
		run, err := s.newestRun()
		if err != nil {
			return err
		}
		query := "select " + itemColumns + "h.name from url u join host h on h.id = u.host where " +
			where + " and u.id > ?2 order by u.id limit ?3+0"
		return s.ForEachRow(query, []any{arg, after, pageRows}, func(r *sqlite.Row) error {
			item, id, err := s.scanItem(r, run)
			if err != nil {
				return err
			}
			return add(r, item, id)
		})
	})
}

func (e *engine) Items(ctx context.Context, state frontier.State) iter.Seq2[frontier.Item, error] {
	return e.itemsWhere(ctx, "u.state = ?1", int(state))
}

func (e *engine) Files(ctx context.Context) iter.Seq2[frontier.File, error] {
	return pages(ctx, e, func(s *session, after int64, add func(*sqlite.Row, frontier.File, int64) error) error {
		return s.ForEachRow(`select u.id, u.state, c.path, c.digest from url u join capture c on c.id = u.last
			where c.path <> '' and u.id > ? order by u.id limit ?+0`, []any{after, pageRows}, func(r *sqlite.Row) error {
			var f frontier.File
			var id int64
			var digest []byte
			err := r.Scan(&id, (*uint8)(&f.State), &f.Path, &digest)
			if err != nil {
				return err
			}
			copy(f.Digest[:], digest)
			return add(r, f, id)
		})
	})
}

func (e *engine) Layout(ctx context.Context) (layout int, err error) {
	err = e.read(ctx, func(s *session) error { return s.Scan("select version from layout", nil, &layout) })
	return layout, err
}

func (e *engine) Captures(ctx context.Context) iter.Seq2[frontier.Capture, error] {
	return pages(ctx, e, func(s *session, after int64, add func(*sqlite.Row, frontier.Capture, int64) error) error {
		const query = "select " + captureColumns + " where c.id > ? order by c.id limit ?+0"
		return s.ForEachRow(query, []any{after, pageRows}, func(r *sqlite.Row) error {
			c, id, err := scanCapture(r.Scan)
			if err != nil {
				return err
			}
			return add(r, c, id)
		})
	})
}

func (e *engine) NewestCaptures(ctx context.Context, keys []frontier.Key) (map[frontier.Key]frontier.Capture, error) {
	return lookupAll(ctx, e, keys, func(s *session, k frontier.Key) (frontier.Capture, error) {
		return s.captureOf(`c.id = (select max(id) from (
			select max(id) id from capture where key = ?1
			union all select max(id) from capture where key is null and item = (select id from url where key = ?1)))`, k[:])
	})
}

func (e *engine) Metas(ctx context.Context, keys []frontier.Key) (map[frontier.Key][]byte, error) {
	return lookupAll(ctx, e, keys, func(s *session, k frontier.Key) (meta []byte, err error) {
		err = s.Scan("select meta from url where key=?", []any{k[:]}, &meta)
		return meta, err
	})
}

func (e *engine) CapturesByDigest(ctx context.Context, digests [][32]byte) (map[[32]byte]frontier.Capture, error) {
	return lookupAll(ctx, e, digests, func(s *session, d [32]byte) (frontier.Capture, error) {
		return s.captureOf("c.id = (select min(id) from capture where sum=? and digest=? and file is not null)",
			sumOf(d), d[:])
	})
}

func (e *engine) NameOwners(ctx context.Context, folds []string) (map[string]frontier.Key, error) {
	var key sqlite.Raw
	return lookupAll(ctx, e, folds, func(s *session, fold string) (k frontier.Key, err error) {
		err = s.Scan("select key from name where fold=?", []any{fold}, &key)
		copy(k[:], key)
		return k, err
	})
}

// lookupAll calls get for each key and returns the results as a map. The map
// contains no entry for a key that get does not find.
func lookupAll[K comparable, V any](ctx context.Context, e *engine, keys []K,
	get func(*session, K) (V, error)) (map[K]V, error) {
	found := make(map[K]V, len(keys))
	err := e.read(ctx, func(s *session) error {
		for _, k := range keys {
			v, err := get(s, k)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			found[k] = v
		}
		return nil
	})
	return found, err
}

func (e *engine) FileEnds(ctx context.Context) (map[string]int64, error) {
	ends := map[string]int64{}
	err := e.read(ctx, func(s *session) error {
		return s.ForEachRow("select name, ends from file where ends is not null", nil, func(r *sqlite.Row) error {
			var name string
			var end int64
			err := r.Scan(&name, &end)
			ends[name] = end
			return err
		})
	})
	return ends, err
}
