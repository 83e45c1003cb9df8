package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A lane assigns consecutive numbers to transactions of this process that run
// one after another. Each transaction stores its number in the row of the lane.
// After a connection failure, this receipt shows whether the transaction was
// committed. The transaction number of PostgreSQL cannot serve as a receipt,
// because the server can assign the same number again after a crash.
type lane struct {
	id     int64
	number int64 // number of the most recent attempt
}

// lanes contains the lanes that no transaction uses. It is safe for concurrent
// use. The zero value is ready to use.
type lanes struct {
	mu   sync.Mutex
	free []*lane
	last int64 // id of the newest lane
}

// take returns a lane that no other transaction uses.
func (ls *lanes) take() *lane {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if n := len(ls.free); n > 0 {
		l := ls.free[n-1]
		ls.free = ls.free[:n-1]
		return l
	}
	ls.last++
	return &lane{id: ls.last}
}

// give makes a lane free again. Its last transaction must have ended.
func (ls *lanes) give(l *lane) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.free = append(ls.free, l)
}

// queueReceipt queues a statement that stores the number of the transaction in
// the row of its lane.
func (t *tx) queueReceipt(b *pgx.Batch) {
	b.Queue(`insert into receipt values ($1, $2, $3, $4)
		on conflict (session, lane) do update set number = excluded.number, at = excluded.at`,
		t.e.session, t.lane.id, t.lane.number, t.Now)
}

// oldReceipts is the age in microseconds at which join removes receipts. They
// belong to processes that have ended.
const oldReceipts = 24 * 60 * 60 * 1_000_000

// committed reports whether the newest transaction of a lane was committed. The
// parameter id is the number of the transaction in the database. If the
// transaction still runs, because the server has not noticed the end of its
// connection, the error is errUncertain.
func (e *engine) committed(ctx context.Context, l *lane, id string) (done bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, silentTime, errSilent)
	defer cancel()
	var status *string
	err = e.pool.QueryRow(ctx, "select pg_xact_status($1::text::xid8)", id).Scan(&status)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg) && pg.Code == "22023": // the server lost the number in a crash
	case err != nil:
		return false, withCause(ctx, err)
	case status != nil && *status == "in progress":
		return false, errUncertain
	}
	err = e.pool.QueryRow(ctx, "select exists (select from receipt where session = $1 and lane = $2 and number = $3)",
		e.session, l.id, l.number).Scan(&done)
	return done, withCause(ctx, err)
}
