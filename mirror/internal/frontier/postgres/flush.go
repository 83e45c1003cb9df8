package postgres

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// flush writes all changed rows and hosts to the database, and executes the
// statements that the function more queues. It returns the number of new links
// that were not inserted, because another worker added them at the same time.
func (t *tx) flush(more func(*pgx.Batch)) (lost int, err error) {
	if err := t.assignIDs(); err != nil {
		return 0, err
	}
	var fresh, old []*row
	for _, r := range t.rows {
		switch {
		case !r.changed:
		case r.item != nil:
			fresh = append(fresh, r)
		default:
			old = append(old, r)
		}
	}
	var b pgx.Batch
	var inserted map[frontier.Key]bool
	if len(fresh) > 0 {
		inserted = t.insertRows(&b, fresh)
	}
	if len(old) > 0 {
		updateRows(&b, old)
	}
	t.insertCaptures(&b)
	if more != nil {
		more(&b)
	}
	t.settle(&b)
	if b.Len() == 0 {
		return 0, nil
	}
	if err := t.send(&b); err != nil {
		return 0, err
	}
	for _, r := range fresh {
		if inserted[r.key] {
			continue
		}
		if r.visited {
			return 0, errRetry
		}
		lost++
		t.tally.urls--
		t.tally.states[r.state]--
	}
	return lost, nil
}

// assignIDs assigns row numbers to new rows and captures, in the order in which
// they were created. It reserves more numbers if too few are reserved.
func (t *tx) assignIDs() error {
	if rows, captures := len(t.created)-len(t.numbers.rows), len(t.captures)-len(t.numbers.captures); rows > 0 || captures > 0 {
		var b pgx.Batch
		t.queueNumbers(&b, rows, captures)
		if err := t.send(&b); err != nil {
			return err
		}
	}
	for i, r := range t.created {
		r.id = t.numbers.rows[i]
	}
	for i, c := range t.captures {
		c.id = t.numbers.captures[i]
		c.of.last = pgtype.Int8{Int64: c.id, Valid: true}
	}
	return nil
}

// queueNumbers queues statements that reserve numbers for new rows and captures.
func (t *tx) queueNumbers(b *pgx.Batch, rows, captures int) {
	queueIDs(b, "url_id", rows, &t.numbers.rows)
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

// insertRows queues a statement that inserts rows in the order of their keys,
// so that two transactions cannot deadlock. After the batch is sent, the result
// contains the keys of the inserted rows.
func (t *tx) insertRows(b *pgx.Batch, rows []*row) map[frontier.Key]bool {
	slices.SortFunc(rows, func(a, b *row) int { return bytes.Compare(a.key[:], b.key[:]) })
	n := len(rows)
	ids, runs, hosts, lasts := make([]int64, n), make([]int64, n), make([]int64, n), make([]*int64, n)
	states, prios, depths, attempts := make([]int16, n), make([]int32, n), make([]int32, n), make([]int32, n)
	keys, vias, urls := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	metas, notes, waits := make([][]byte, n), make([][]byte, n), make([]*int64, n)
	for i, r := range rows {
		ids[i], keys[i], states[i], runs[i], hosts[i] = r.id, r.key[:], int16(r.state), r.run, r.host
		prios[i], depths[i], attempts[i] = int32(r.prio), int32(r.depth), int32(r.attempts)
		vias[i], urls[i], metas[i], notes[i] = keyColumn(r.item.Via), []byte(r.item.URL), r.meta, r.note
		waits[i], lasts[i] = pointer(r.wait), pointer(r.last)
	}
	inserted := make(map[frontier.Key]bool, n)
	b.Queue(`insert into url (id, key, state, run, host, prio, depth, attempts, wait, via, last, url, meta, note)
		select * from unnest($1::bigint[], $2::bytea[], $3::smallint[], $4::bigint[], $5::bigint[], $6::integer[],
			$7::integer[], $8::integer[], $9::bigint[], $10::bytea[], $11::bigint[], $12::bytea[], $13::bytea[], $14::bytea[])
		on conflict (key) do nothing returning key`,
		ids, keys, states, runs, hosts, prios, depths, attempts, waits, vias, lasts, urls, metas, notes).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var key []byte
				if err := rows.Scan(&key); err != nil {
					return err
				}
				inserted[frontier.Key(key)] = true
			}
			return rows.Err()
		})
	return inserted
}

// updateRows queues a statement that updates rows. The transaction must have
// locked them.
func updateRows(b *pgx.Batch, rows []*row) {
	n := len(rows)
	ids, runs, waits, lasts := make([]int64, n), make([]int64, n), make([]*int64, n), make([]*int64, n)
	states, prios, depths, attempts := make([]int16, n), make([]int32, n), make([]int32, n), make([]int32, n)
	metas, notes, sets := make([][]byte, n), make([][]byte, n), make([]bool, n)
	for i, r := range rows {
		ids[i], states[i], runs[i], prios[i], depths[i] = r.id, int16(r.state), r.run, int32(r.prio), int32(r.depth)
		attempts[i], waits[i], lasts[i], notes[i] = int32(r.attempts), pointer(r.wait), pointer(r.last), r.note
		metas[i], sets[i] = r.meta, r.setMeta
	}
	b.Queue(`update url u set state = x.state, run = x.run, prio = x.prio, depth = x.depth, attempts = x.attempts,
		wait = x.wait, last = x.last, note = x.note, meta = case when x.sets then x.meta else u.meta end
		from unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[],
			$7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::boolean[])
			x(id, state, run, prio, depth, attempts, wait, last, note, meta, sets)
		where u.id = x.id`,
		ids, states, runs, prios, depths, attempts, waits, lasts, notes, metas, sets)
}
