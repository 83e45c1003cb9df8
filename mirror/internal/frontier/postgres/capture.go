package postgres

import (
	"github.com/jackc/pgx/v5"

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
