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
// page. The limit is necessary because each row of an untrusted database can have
// sqlite.MaxRow bytes.
const pageBytes = 4 << 20

// errPageFull ends the query of a page that has pageBytes.
var errPageFull = errors.New("the page is full")

// captureOf returns the capture that matches an SQL condition. If no capture
// matches, the error is sql.ErrNoRows.
func (s *session) captureOf(where string, args ...any) (frontier.Capture, error) {
	c, _, err := rules.ScanCapture(func(to ...any) error {
		return s.Scan("select "+rules.CaptureColumns+rules.CaptureTables+"where "+where, args, to...)
	})
	return c, err
}

// pages returns an iterator over rows in the order of their row numbers. The
// query must select rows with numbers greater than ?1, which is the last number
// of the previous page, and must have the limit ?2+0.
func pages[T any](ctx context.Context, e *engine, query string, args []any,
	scan func(func(...any) error) (T, int64, error)) iter.Seq2[T, error] {
	return eachPage(ctx, e, query, args, func(r *sqlite.Row) (T, int64, error) { return scan(r.Scan) })
}

// eachPage is like pages for a function that needs more than the method Scan.
func eachPage[T any](ctx context.Context, e *engine, query string, args []any,
	scan func(*sqlite.Row) (T, int64, error)) iter.Seq2[T, error] {
	return rules.Pages(func(after int64) (page []T, last int64, more bool, err error) {
		bytes := 0
		err = e.read(ctx, func(s *session) error {
			return s.ForEachRow(query, append([]any{after, pageRows}, args...), func(r *sqlite.Row) error {
				row, id, err := scan(r)
				page, last = append(page, row), id
				if bytes += r.Bytes(); err == nil && bytes >= pageBytes {
					return errPageFull
				}
				return err
			})
		})
		if err == errPageFull {
			return page, last, true, nil
		}
		return page, last, len(page) == pageRows, err
	})
}

func (e *engine) Items(ctx context.Context, state frontier.State) iter.Seq2[frontier.Item, error] {
	const query = "select " + rules.ItemColumns + ", h.name from url u join host h on h.id = u.host" + rules.LastCapture +
		"where u.state = ?3 and u.id > ?1 order by u.id limit ?2+0"
	return pages(ctx, e, query, []any{int(state)}, func(scan func(...any) error) (frontier.Item, int64, error) {
		var host string
		item, id, err := rules.ScanItem(scan, &host)
		item.Host = host
		return item, id, err
	})
}

func (e *engine) Files(ctx context.Context) iter.Seq2[frontier.File, error] {
	const query = `select u.id, u.state, c.path, c.digest from url u join capture c on c.id = u.last
		where c.path <> '' and u.id > ?1 order by u.id limit ?2+0`
	return pages(ctx, e, query, nil, rules.ScanFile)
}

func (e *engine) Captures(ctx context.Context) iter.Seq2[frontier.Capture, error] {
	const query = "select " + rules.CaptureColumns + rules.CaptureTables + "where c.id > ?1 order by c.id limit ?2+0"
	return pages(ctx, e, query, nil, rules.ScanCapture)
}

func (e *engine) Layout(ctx context.Context) (layout int, err error) {
	err = e.read(ctx, func(s *session) error { return s.Scan("select version from layout", nil, &layout) })
	return layout, err
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
