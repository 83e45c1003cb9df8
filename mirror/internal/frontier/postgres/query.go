package postgres

import (
	"context"
	"database/sql"
	"iter"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// pageRows is the number of rows that an iteration reads in one transaction.
const pageRows = 1000

// pages returns an iterator over rows in the order of their row numbers. The
// query must select rows with numbers greater than $1, which is the last number
// of the previous page, and must have the limit $2.
func pages[T any](ctx context.Context, e *engine, query string, args []any,
	scan func(func(...any) error) (T, int64, error)) iter.Seq2[T, error] {
	type numbered struct {
		row T
		id  int64
	}
	return rules.Pages(func(after int64) (page []T, last int64, more bool, err error) {
		found, err := read(ctx, e, func(ctx context.Context, q pgx.Tx) ([]numbered, error) {
			rows, err := q.Query(ctx, query, append([]any{after, pageRows}, args...)...)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, func(r pgx.CollectableRow) (n numbered, err error) {
				n.row, n.id, err = scan(r.Scan)
				return n, err
			})
		})
		if len(found) > 0 {
			last = found[len(found)-1].id
		}
		return column(found, func(n numbered) T { return n.row }), last, len(found) == pageRows, err
	})
}

func (e *engine) Items(ctx context.Context, state frontier.State) iter.Seq2[frontier.Item, error] {
	const query = "select " + rules.ItemColumns + ", h.name from url u join host h on h.id = u.host" + rules.LastCapture +
		"where u.state = $3 and u.id > $1 order by u.id limit $2"
	return pages(ctx, e, query, []any{int16(state)}, func(scan func(...any) error) (frontier.Item, int64, error) {
		var host string
		item, id, err := rules.ScanItem(scan, &host)
		item.Host = host
		return item, id, err
	})
}

func (e *engine) Captures(ctx context.Context) iter.Seq2[frontier.Capture, error] {
	const query = "select " + rules.CaptureColumns + rules.CaptureTables + "where c.id > $1 order by c.id limit $2"
	return pages(ctx, e, query, nil, rules.ScanCapture)
}

func (e *engine) Files(ctx context.Context) iter.Seq2[frontier.File, error] {
	const query = `select u.id, u.state, c.path, c.digest from url u join capture c on c.id = u.last
		where c.path <> '' and u.id > $1 order by u.id limit $2`
	return pages(ctx, e, query, nil, rules.ScanFile)
}

func (e *engine) Layout(ctx context.Context) (int, error) {
	return value[int](ctx, e, "select layout from version")
}

func (e *engine) NewestCaptures(ctx context.Context, keys []frontier.Key) (map[frontier.Key]frontier.Capture, error) {
	query := "select " + rules.CaptureColumns + ` from unnest($1::bytea[]) k(key)
		cross join lateral (select max(id) id from (select max(id) id from capture where key = k.key
			union all select max(id) from capture where key is null and item = (select id from url where key = k.key)) m) n
		join capture c on c.id = n.id join url u on u.id = c.item left join file f on f.id = c.file`
	return collectMap(ctx, e, query, []any{keyList(keys)}, func(rows pgx.CollectableRow) (frontier.Key, frontier.Capture, error) {
		c, _, err := rules.ScanCapture(rows.Scan)
		return c.Key, c, err
	})
}

// collectMap executes a query and returns the keys and values of its rows.
func collectMap[K comparable, V any](ctx context.Context, e *engine, query string, args []any,
	scan func(pgx.CollectableRow) (K, V, error)) (map[K]V, error) {
	type pair struct {
		key   K
		value V
	}
	pairs, err := collect(ctx, e, query, args, func(rows pgx.CollectableRow) (p pair, err error) {
		p.key, p.value, err = scan(rows)
		return p, err
	})
	found := make(map[K]V, len(pairs))
	for _, p := range pairs {
		found[p.key] = p.value
	}
	return found, err
}

func keyList(keys []frontier.Key) [][]byte {
	list := make([][]byte, len(keys))
	for i := range keys {
		list[i] = keys[i][:]
	}
	return list
}

func (e *engine) Metas(ctx context.Context, keys []frontier.Key) (map[frontier.Key][]byte, error) {
	const query = "select key, meta from url where key = any($1)"
	return collectMap(ctx, e, query, []any{keyList(keys)}, func(rows pgx.CollectableRow) (k frontier.Key, meta []byte, err error) {
		key := k[:0]
		err = rows.Scan(&key, &meta)
		copy(k[:], key)
		return k, meta, err
	})
}

// CapturesByDigest returns captures that have a complete WARC record. For a
// worker, the record must be in one of its own files, so that a revisit record
// can refer to it. If the crawl has a store, the record must be in a stored
// file, or in a file that the worker writes.
func (e *engine) CapturesByDigest(ctx context.Context, digests [][32]byte) (map[[32]byte]frontier.Capture, error) {
	list := make([][]byte, len(digests))
	for i := range digests {
		list[i] = digests[i][:]
	}
	first, args := "select min(id) id from capture where digest = any($1) and file is not null group by digest", []any{list}
	if w := &e.worker; w.Name != "" {
		from := "f.worker = $2"
		if w.Stores {
			from = "(f.state = 2 or f.state = 0 and f.worker = $2)"
		}
		first = `select min(c.id) id from capture c join file f on f.id = c.file
			where c.digest = any($1) and c.checksum is not null and ` + from + " group by c.digest"
		args = append(args, w.Name)
	}
	query := "select " + rules.CaptureColumns + rules.CaptureTables + "join (" + first + ") first on first.id = c.id"
	return collectMap(ctx, e, query, args, func(rows pgx.CollectableRow) ([32]byte, frontier.Capture, error) {
		c, _, err := rules.ScanCapture(rows.Scan)
		return c.Digest, c, err
	})
}

func (e *engine) NameOwners(ctx context.Context, folds []string) (map[string]frontier.Key, error) {
	list := make([][]byte, len(folds))
	for i, fold := range folds {
		list[i] = []byte(fold)
	}
	const query = "select fold, key from name where fold = any($1)"
	return collectMap(ctx, e, query, []any{list}, func(rows pgx.CollectableRow) (string, frontier.Key, error) {
		var fold, key []byte
		var k frontier.Key
		err := rows.Scan(&fold, &key)
		copy(k[:], key)
		return string(fold), k, err
	})
}

func (e *engine) FileEnds(ctx context.Context) (map[string]int64, error) {
	const query = "select name, ends from file where ends is not null and worker = $1 and state < 2"
	return collectMap(ctx, e, query, []any{e.worker.Name}, func(rows pgx.CollectableRow) (name string, end int64, err error) {
		err = rows.Scan(&name, &end)
		return name, end, err
	})
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func pointer(n sql.NullInt64) *int64 {
	if !n.Valid {
		return nil
	}
	return &n.Int64
}
