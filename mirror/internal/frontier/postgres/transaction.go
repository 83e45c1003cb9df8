package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// SQL statements that lock the crawl until the end of the transaction. The
// parameter of lockCrawl is the name of the schema. Ordinary changes share the
// lock.
const (
	lockCrawl  = "select pg_advisory_xact_lock(hashtextextended('fetch ' || $1, 0))"
	ownCrawl   = "select pg_advisory_xact_lock(hashtextextended('fetch ' || current_schema(), 0))"
	shareCrawl = "select pg_advisory_xact_lock_shared(hashtextextended('fetch ' || current_schema(), 0))"
)

// A mode selects the lock of a transaction. A lease is as durable as all other
// changes: if a crash of the server undid a claim, the next claim would get the
// same epoch, and both workers could complete items of the host.
type mode uint8

const (
	shared    mode = iota // runs at the same time as other transactions
	exclusive             // runs alone
)

// tx holds the state of one attempt to execute a write transaction. It
// implements rules.Store with the rows that the transaction has read.
type tx struct {
	*pgx.Conn
	rules.Transaction
	ctx      context.Context
	e        *engine
	lane     *lane
	id       pgtype.Text // PostgreSQL number of the transaction; null if it is unknown or nothing was changed
	readOnly bool        // if true, the transaction changes nothing, so that its number is not needed
	queued   pgx.Batch   // statements that are sent with the next ones, at the latest with the commit

	worker struct { // row of the worker, or zero
		incarnation int64
		session     string
	}
	sealed bool // if true, the database has a digest of the rows

	urls     map[frontier.Key]*rules.URL
	created  []*rules.URL // new URLs in the order of Add
	captures []*newCapture
	hosts    hostSet                          // locked hosts
	due      *[]*host                         // hosts that Claim has read with the start of the transaction, or nil
	known    hostSet                          // hosts that were read without locks
	loadRun  int64                            // run that queueLoad assumed
	expected int                              // maximum number of new URLs, unless another worker changes the hosts
	numbers  struct{ urls, captures []int64 } // reserved row numbers
}

// write executes f in a transaction. When write returns nil, the changes are on
// disk. The function f can be called several times.
func (e *engine) write(ctx context.Context, m mode, f func(*tx) error) error {
	_, err := transact(ctx, e, m, func(t *tx) (struct{}, error) {
		if err := t.start(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, f(t)
	})
	return err
}

// transact executes f in a transaction and returns the result of f. After the
// cancellation of ctx, a transaction that has started gets graceTime to
// complete. The function f can be called several times, and must not change
// other variables. It calls start. Statements that it queues before are sent
// together with the start, which saves a round trip.
func transact[R any](ctx context.Context, e *engine, m mode, f func(*tx) (R, error)) (R, error) {
	w := &writer[R]{e: e, mode: m, f: f, lane: e.lanes.take()}
	err := e.retry(ctx, w.attempt)
	if w.uncertain == nil {
		e.lanes.give(w.lane)
	}
	if err != nil {
		var none R
		return none, err
	}
	return w.result, nil
}

// A writer executes a transaction in one or more attempts.
type writer[R any] struct {
	e         *engine
	mode      mode
	f         func(*tx) (R, error)
	lane      *lane
	result    R   // result of f in the newest attempt
	uncertain *tx // newest attempt, if its commit failed with an unknown result; or nil
}

// attempt executes the transaction, unless the previous attempt was committed.
func (w *writer[R]) attempt(ctx context.Context) error {
	if w.uncertain != nil {
		done, err := w.e.committed(ctx, w.lane, w.uncertain.id.String)
		if err != nil {
			return err
		}
		last := w.uncertain
		if w.uncertain = nil; done {
			last.remember()
			return nil
		}
	}
	if w.mode == exclusive {
		return w.e.patient(ctx, w.execute)
	}
	return brief(ctx, w.execute)
}

// execute executes the transaction once.
func (w *writer[R]) execute(ctx context.Context) error {
	conn, err := w.e.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if w.mode == exclusive {
		reply := replyOf(conn.Conn())
		reply.limit.Store(maxLargeReply)
		defer reply.limit.Store(0)
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	w.lane.number++
	t := w.e.newTx(ctx, conn.Conn(), w.mode, w.lane)
	if w.result, err = w.f(t); err == nil {
		err = t.prepare()
	}
	if err != nil {
		t.rollback()
		return err
	}
	if err := t.commit(); err != nil {
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR" {
			t.rollback()
			return err
		}
		if t.id.Valid {
			w.uncertain = t
		}
		return errors.Join(errUncertain, err)
	}
	t.remember()
	return nil
}

// newTx returns a transaction. It queues the statements that start it, lock the
// crawl and read the state of the newest run.
func (e *engine) newTx(ctx context.Context, conn *pgx.Conn, m mode, l *lane) *tx {
	t := &tx{Conn: conn, ctx: ctx, e: e, lane: l, urls: map[frontier.Key]*rules.URL{}, hosts: newHostSet(), known: newHostSet()}
	t.Transaction = rules.Transaction{Store: t, Limit: e.limit.Load(), Seen: &e.seen}
	b := &t.queued
	b.Queue("begin")
	switch m {
	case exclusive:
		b.Queue(ownCrawl)
		b.Queue(defaultPlans)
	default:
		b.Queue(shareCrawl)
	}
	b.Queue("select run, live, set_config('fetch.now', ("+timeNow+`)::text, true)::bigint, coalesce(w.incarnation, 0), coalesce(w.session, ''), (select rows is not null from seal)
		from book left join worker w on w.name = $2`, e.clock(), e.worker.Name).QueryRow(func(r pgx.Row) error {
		return r.Scan(&t.Run, &t.Live, &t.Now, &t.worker.incarnation, &t.worker.session, &t.sealed)
	})
	return t
}

// txTime is the SQL expression for the time of the transaction, as in tx.Now.
// The statements of a transaction must not read the clock again: Claim would
// find a host due because of an item that must still wait at the time of the
// transaction.
const txTime = "current_setting('fetch.now')::bigint"

// start starts the transaction, and sends the other queued statements.
func (t *tx) start() error {
	if err := t.sendQueued(); err != nil {
		return err
	}
	t.e.run.Store(t.Run)
	if err := t.e.checkWorker(t.worker.incarnation, t.worker.session); err != nil || !t.sealed {
		return err
	}
	return t.exec("update seal set rows = null")
}

// queueNumber queues a statement that reads the number of the transaction. Most
// transactions send it together with other statements.
func (t *tx) queueNumber(b *pgx.Batch) {
	b.Queue("select pg_current_xact_id_if_assigned()::text").QueryRow(func(r pgx.Row) error { return r.Scan(&t.id) })
}

// prepare queues the changes of the hosts. It also reads the number of the
// transaction, unless it is known. The server assigns a number at the first
// change.
func (t *tx) prepare() error {
	if err := t.settle(); err != nil || t.id.Valid || t.readOnly {
		return err
	}
	t.queueTotals(&t.queued)
	t.queueNumber(&t.queued)
	return t.sendQueued()
}

// commit sends the queued statements and the commit together.
func (t *tx) commit() error {
	t.queueTotals(&t.queued)
	if t.id.Valid {
		t.queueReceipt(&t.queued)
	}
	t.queued.Queue("commit")
	return t.sendQueued()
}

// sendQueued sends the queued statements.
func (t *tx) sendQueued() error {
	b := t.queued
	t.queued = pgx.Batch{}
	return t.send(&b)
}

// rollback ends the transaction without changes. If it fails, the connection is
// closed, and the server rolls back.
func (t *tx) rollback() { t.exec("rollback") }

// remember updates the engine after the commit of t.
func (t *tx) remember() {
	t.Remember()
	t.e.dropped.Add(t.Dropped)
	for id, h := range t.hosts.ids {
		if h.added > 0 {
			t.e.pending.add(id, h.added)
		}
	}
}

// send sends all statements of a batch at once and reads their results.
func (t *tx) send(b *pgx.Batch) error { return t.SendBatch(t.ctx, b).Close() }

// exec executes one statement.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.Exec(t.ctx, query, args...)
	return err
}

// queueRows queues a query. The result contains the values of its rows after
// the batch was sent.
func queueRows[T any](b *pgx.Batch, scan pgx.RowToFunc[T], query string, args ...any) *[]T {
	all := new([]T)
	b.Queue(query, args...).Query(func(rows pgx.Rows) (err error) {
		*all, err = pgx.CollectRows(rows, scan)
		return err
	})
	return all
}

// selectRows executes a query and returns the values of its rows.
func selectRows[T any](t *tx, scan pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, err := t.Query(t.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// notNull returns the bytes of data. An empty text is stored as an empty value,
// not as null.
func notNull(data string) []byte { return append([]byte{}, data...) }
