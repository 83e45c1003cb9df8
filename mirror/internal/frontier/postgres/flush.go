package postgres

import (
	"bytes"
	"database/sql"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// flush writes all changed URLs to the database, and executes the statements
// that the function more queues. It returns the number of new links that were
// not inserted, because another worker added them at the same time.
func (t *tx) flush(more func(*pgx.Batch)) (lost int, err error) {
	if err := t.assignIDs(); err != nil {
		return 0, err
	}
	var fresh, old []*rules.URL
	for _, u := range t.urls {
		switch {
		case !u.Changed:
		case u.Item != nil:
			fresh = append(fresh, u)
		default:
			old = append(old, u)
		}
	}
	var b pgx.Batch
	inserted := new([][]byte)
	if len(fresh) > 0 {
		inserted = insertURLs(&b, fresh)
	}
	if len(old) > 0 {
		updateURLs(&b, old)
	}
	t.insertCaptures(&b)
	if more != nil {
		more(&b)
	}
	if b.Len() == 0 {
		return 0, nil
	}
	if err := t.send(&b); err != nil {
		return 0, err
	}
	for _, key := range *inserted {
		t.urls[frontier.Key(key)].Changed = false
	}
	for _, u := range fresh {
		switch {
		case !u.Changed:
		case u.Visited:
			return 0, errRetry
		default:
			lost++
			t.Tally.URLs--
			t.Tally.States[u.State]--
		}
	}
	return lost, nil
}

// assignIDs assigns row numbers to new URLs and captures, in the order in which
// they were created. It reserves more numbers if too few are reserved.
func (t *tx) assignIDs() error {
	if urls, captures := len(t.created)-len(t.numbers.urls), len(t.captures)-len(t.numbers.captures); urls > 0 || captures > 0 {
		var b pgx.Batch
		t.queueNumbers(&b, urls, captures)
		if err := t.send(&b); err != nil {
			return err
		}
	}
	for i, u := range t.created {
		u.ID = t.numbers.urls[i]
	}
	for i, c := range t.captures {
		c.id = t.numbers.captures[i]
		c.of.Last = sql.NullInt64{Int64: c.id, Valid: true}
	}
	return nil
}

// queueNumbers queues statements that reserve numbers for new URLs and captures.
func (t *tx) queueNumbers(b *pgx.Batch, urls, captures int) {
	queueIDs(b, "url_id", urls, &t.numbers.urls)
	queueIDs(b, "capture_id", captures, &t.numbers.captures)
}

// queueIDs queues a statement that appends the next n numbers of a sequence to
// ids.
func queueIDs(b *pgx.Batch, sequence string, n int, ids *[]int64) {
	if n <= 0 {
		return
	}
	b.Queue("select nextval($1::regclass) from generate_series(1, $2::integer)", sequence, n).Query(func(rows pgx.Rows) error {
		more, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		slices.Sort(more)
		*ids = append(*ids, more...)
		return err
	})
}

// column returns the values of a column of rows, as an array for unnest.
func column[R, V any](rows []R, value func(R) V) []V {
	values := make([]V, len(rows))
	for i, r := range rows {
		values[i] = value(r)
	}
	return values
}

// insertURLs queues a statement that inserts URLs in the order of their keys, so
// that two transactions cannot deadlock. The result contains the keys of the
// inserted URLs after the batch was sent.
func insertURLs(b *pgx.Batch, urls []*rules.URL) *[][]byte {
	slices.SortFunc(urls, func(a, b *rules.URL) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return queueRows(b, pgx.RowTo[[]byte], `insert into url (id, key, state, run, host, prio, depth, attempts, wait, via, last, url, meta, note)
		select * from unnest($1::bigint[], $2::bytea[], $3::smallint[], $4::bigint[], $5::bigint[], $6::integer[],
			$7::integer[], $8::integer[], $9::bigint[], $10::bytea[], $11::bigint[], $12::bytea[], $13::bytea[], $14::bytea[])
		on conflict (key) do nothing returning key`,
		column(urls, func(u *rules.URL) int64 { return u.ID }),
		column(urls, func(u *rules.URL) []byte { return u.Key[:] }),
		column(urls, func(u *rules.URL) int16 { return int16(u.State) }),
		column(urls, func(u *rules.URL) int64 { return u.Run }),
		column(urls, func(u *rules.URL) int64 { return u.Host }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Priority) }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Depth) }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Attempts) }),
		column(urls, func(u *rules.URL) *int64 { return pointer(u.Wait) }),
		column(urls, func(u *rules.URL) []byte { return u.Item.Via.Column() }),
		column(urls, func(u *rules.URL) *int64 { return pointer(u.Last) }),
		column(urls, func(u *rules.URL) []byte { return []byte(u.Item.URL) }),
		column(urls, func(u *rules.URL) []byte { return u.Meta }),
		column(urls, func(u *rules.URL) []byte { return bytesIf(u.Note != "", []byte(u.Note)) }))
}

// updateURLs queues a statement that updates URLs. The transaction must have
// locked them.
func updateURLs(b *pgx.Batch, urls []*rules.URL) {
	b.Queue(`update url u set state = x.state, run = x.run, prio = x.prio, depth = x.depth, attempts = x.attempts, wait = x.wait,
		last = coalesce(x.last, u.last), note = x.note, meta = case when x.sets then x.meta else u.meta end
		from unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[],
			$7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::boolean[])
			x(id, state, run, prio, depth, attempts, wait, last, note, meta, sets)
		where u.id = x.id`,
		column(urls, func(u *rules.URL) int64 { return u.ID }),
		column(urls, func(u *rules.URL) int16 { return int16(u.State) }),
		column(urls, func(u *rules.URL) int64 { return u.Run }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Priority) }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Depth) }),
		column(urls, func(u *rules.URL) int32 { return int32(u.Attempts) }),
		column(urls, func(u *rules.URL) *int64 { return pointer(u.Wait) }),
		column(urls, func(u *rules.URL) *int64 { return pointer(u.Last) }),
		column(urls, func(u *rules.URL) []byte { return bytesIf(u.Note != "", []byte(u.Note)) }),
		column(urls, func(u *rules.URL) []byte { return u.Meta }),
		column(urls, func(u *rules.URL) bool { return u.SetMeta }))
}
