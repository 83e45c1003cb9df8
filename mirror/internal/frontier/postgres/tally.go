package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

const sumTally = `select sum(pending)::bigint, sum(done)::bigint, sum(kept)::bigint, sum(gone)::bigint, sum(dead)::bigint,
	sum(excluded)::bigint, sum(before)::bigint, sum(urls)::bigint, sum(captures)::bigint, sum(bytes)::bigint from tally`

// queueTotals queues a statement that adds the changes of the totals to the row
// of this engine. It is the last change of a transaction, so that other
// transactions wait only briefly.
func (t *tx) queueTotals(b *pgx.Batch) {
	a := &t.Tally
	if *a == (rules.Tally{}) {
		return
	}
	b.Queue(`update tally set pending = pending + $2, done = done + $3, kept = kept + $4, gone = gone + $5,
		dead = dead + $6, excluded = excluded + $7, before = before + $8, urls = urls + $9,
		captures = captures + $10, bytes = bytes + $11 where slot = $1`,
		t.e.slot, a.States[0], a.States[1], a.States[2], a.States[3], a.States[4], a.States[5],
		a.Before, a.URLs, a.Captures, a.Bytes)
	*a = rules.Tally{}
}
