package postgres

import (
	"database/sql"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// newCapture is a capture that the transaction inserts at its end.
type newCapture struct {
	*frontier.Capture
	id   int64
	of   *rules.URL
	item *frontier.Item
}

// InsertCapture implements rules.Store. The method flush inserts the row.
func (t *tx) InsertCapture(u *rules.URL, r *frontier.Result) error {
	t.captures = append(t.captures, &newCapture{of: u, item: &r.Item, Capture: r.Capture})
	return nil
}

// insertCaptures queues statements that insert all new captures.
func (t *tx) insertCaptures(b *pgx.Batch) {
	files := map[string]bool{}
	for _, c := range t.captures {
		if c.File != "" {
			files[c.File] = true
		}
	}
	for _, name := range sortedKeys(files) {
		b.Queue(`insert into file (name, worker, incarnation) select $1::text, $2::text, $3::bigint
			where not exists (select from file where name = $1) on conflict do nothing`,
			name, t.e.worker.Name, t.e.worker.Incarnation)
	}
	if len(t.captures) > 0 {
		t.queueCaptures(b)
	}
}

// queueCaptures queues one statement that inserts all new captures.
func (t *tx) queueCaptures(b *pgx.Batch) {
	differs := func(c *newCapture) bool { return c.Key != c.item.Key || c.URL != c.item.URL }
	all := t.captures
	b.Queue(`insert into capture (id, item, key, url, run, time, kind, media, code, size, digest, validator, modified,
			path, file, at, bytes, record, proof, checksum)
		select x.id, x.item, x.key, x.url, x.run, x.time, x.kind, x.media, x.code, x.size, x.digest, x.validator, x.modified,
			x.path, f.id, x.at, x.bytes, x.record, x.proof, nullif(x.checksum, 0)
		from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[],
			$9::integer[], $10::bigint[], $11::bytea[], $12::bytea[], $13::bigint[], $14::bytea[], $15::text[], $16::bigint[],
			$17::bigint[], $18::bytea[], $19::bytea[], $20::bigint[])
			x(id, item, key, url, run, time, kind, media, code, size, digest, validator, modified,
				path, file, at, bytes, record, proof, checksum)
		left join file f on f.name = x.file`,
		column(all, func(c *newCapture) int64 { return c.id }),
		column(all, func(c *newCapture) int64 { return c.of.ID }),
		column(all, func(c *newCapture) []byte { return bytesIf(differs(c), c.Key[:]) }),
		column(all, func(c *newCapture) []byte { return bytesIf(differs(c), []byte(c.URL)) }),
		column(all, func(c *newCapture) int64 { return c.Run }),
		column(all, func(c *newCapture) *int64 { return pointer(rules.NullTime(c.Time)) }),
		column(all, func(c *newCapture) string { return c.Kind }),
		column(all, func(c *newCapture) []byte { return notNull(c.Media) }),
		column(all, func(c *newCapture) int32 { return int32(c.Code) }),
		column(all, func(c *newCapture) int64 { return c.Size }),
		column(all, func(c *newCapture) []byte { return bytesIf(c.Digest != [32]byte{}, c.Digest[:]) }),
		column(all, func(c *newCapture) []byte { return notNull(c.Validator) }),
		column(all, func(c *newCapture) *int64 { return pointer(rules.NullTime(c.Modified)) }),
		column(all, func(c *newCapture) []byte { return notNull(c.Path) }),
		column(all, func(c *newCapture) string { return c.File }),
		column(all, func(c *newCapture) int64 { return c.Offset }),
		column(all, func(c *newCapture) int64 { return c.Length }),
		column(all, func(c *newCapture) []byte { return notNull(c.ID) }),
		column(all, func(c *newCapture) []byte { return notNull(c.Proof) }),
		column(all, func(c *newCapture) int64 { return int64(c.Checksum) }))
}

// bytesIf returns data if the condition is true, and otherwise nil.
func bytesIf(condition bool, data []byte) []byte {
	if !condition {
		return nil
	}
	return data
}

// captureColumns lists the columns that a captureRow reads. The aliases of the
// tables capture, url and file are c, u and f.
const captureColumns = `c.id, coalesce(c.key, u.key), coalesce(c.url, u.url), c.run, c.time, c.kind, c.media, c.code, c.size,
	c.digest, c.validator, c.modified, c.path, f.name, c.at, c.bytes, c.record, c.proof, c.checksum`

// captureTables is the SQL clause that joins the tables of captureColumns.
const captureTables = " from capture c join url u on u.id = c.item left join file f on f.id = c.file "

// captureRow contains the captureColumns of one row. All values are null if an
// item has no capture.
type captureRow struct {
	id, run, time, size, modified, at, bytes, checksum      sql.NullInt64
	code                                                    pgtype.Int4
	kind, file                                              pgtype.Text
	key, url, media, digest, validator, path, record, proof []byte
}

func (r *captureRow) fields() []any {
	return []any{&r.id, &r.key, &r.url, &r.run, &r.time, &r.kind, &r.media, &r.code, &r.size, &r.digest, &r.validator,
		&r.modified, &r.path, &r.file, &r.at, &r.bytes, &r.record, &r.proof, &r.checksum}
}

func (r *captureRow) capture() frontier.Capture {
	c := frontier.Capture{
		URL: string(r.url), Run: r.run.Int64, Time: rules.TimeOf(r.time), Kind: r.kind.String, Media: string(r.media),
		Code: int(r.code.Int32), Size: r.size.Int64, Validator: string(r.validator), Modified: rules.TimeOf(r.modified),
		Path: string(r.path), File: r.file.String, Offset: r.at.Int64, Length: r.bytes.Int64,
		ID: string(r.record), Proof: string(r.proof),
		Checksum: uint32(r.checksum.Int64),
	}
	copy(c.Key[:], r.key)
	copy(c.Digest[:], r.digest)
	return c
}

func scanCapture(rows pgx.CollectableRow) (c frontier.Capture, id int64, err error) {
	var r captureRow
	err = rows.Scan(r.fields()...)
	return r.capture(), r.id.Int64, err
}

// itemColumns lists the columns that scanItem reads. The columns of the most
// recent capture follow.
const itemColumns = `u.id, u.key, u.url, u.via, u.depth, u.prio, u.wait, u.meta, u.run,
	case when u.run = (select run from book) then u.attempts else 0 end, u.note, u.last, ` + captureColumns

// lastCapture is the SQL clause that joins the most recent capture and its file
// to the table url, whose alias is u.
const lastCapture = " left join capture c on c.id = u.last left join file f on f.id = c.file "

// scanItem reads an item and its row number. It reads the following columns
// into the variables in more.
func scanItem(rows pgx.CollectableRow, more ...any) (item frontier.Item, id int64, err error) {
	var key, url, via, note []byte
	var wait, last sql.NullInt64
	var c captureRow
	to := []any{&id, &key, &url, &via, &item.Depth, &item.Priority, &wait, &item.Meta, &item.Run, &item.Attempts, &note, &last}
	if err := rows.Scan(slices.Concat(to, c.fields(), more)...); err != nil {
		return item, 0, err
	}
	copy(item.Key[:], key)
	copy(item.Via[:], via)
	item.URL, item.Note = string(url), string(note)
	if wait.Int64 != rules.FarFuture {
		item.NotBefore = rules.TimeOf(wait)
	}
	if last.Valid {
		capture := c.capture()
		item.LastCapture = &capture
	}
	return item, id, nil
}
