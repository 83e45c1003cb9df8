package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// numStates is the number of values of frontier.State.
const numStates = int(frontier.Excluded) + 1

// A tally contains totals, or changes of totals.
type tally struct {
	states                [numStates]int64
	before                int64 // number of URLs with the state Done that only earlier runs contain
	urls, captures, bytes int64
}

const sumTally = `select sum(pending)::bigint, sum(done)::bigint, sum(kept)::bigint, sum(gone)::bigint, sum(dead)::bigint,
	sum(excluded)::bigint, sum(before)::bigint, sum(urls)::bigint, sum(captures)::bigint, sum(bytes)::bigint from tally`

// fields returns pointers to all totals in the order of the columns.
func (a *tally) fields() (all []any) {
	for i := range a.states {
		all = append(all, &a.states[i])
	}
	return append(all, &a.before, &a.urls, &a.captures, &a.bytes)
}

// queueTotals queues a statement that adds the changes of the totals to the row
// of this engine. It is the last change of a transaction, so that other
// transactions wait only briefly.
func (t *tx) queueTotals(b *pgx.Batch) {
	a := &t.tally
	if *a == (tally{}) {
		return
	}
	b.Queue(`update tally set pending = pending + $2, done = done + $3, kept = kept + $4, gone = gone + $5,
		dead = dead + $6, excluded = excluded + $7, before = before + $8, urls = urls + $9,
		captures = captures + $10, bytes = bytes + $11 where slot = $1`,
		t.e.slot, a.states[0], a.states[1], a.states[2], a.states[3], a.states[4], a.states[5],
		a.before, a.urls, a.captures, a.bytes)
	*a = tally{}
}
