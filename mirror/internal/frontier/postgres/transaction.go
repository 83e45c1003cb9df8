package postgres

import (
	"context"
	"errors"
	"time"

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

// tx holds the state of a write transaction.
type tx struct {
	*pgx.Conn
	ctx      context.Context
	e        *engine
	lane     *lane
	id       pgtype.Text // PostgreSQL number of the transaction; null if it is unknown or nothing was changed
	readOnly bool        // if true, the transaction changes nothing, so that its number is not needed
	last     pgx.Batch   // statements that are sent with the commit
	now      int64       // time of the transaction, in microseconds
	run      int64
	loadRun  int64 // run that queueLoad assumed
	live     bool
	tally    tally // changes of the totals
	limit    int64 // maximum number of pending URLs of a host; 0 means no limit

	rows     map[frontier.Key]*row
	hosts    map[string]*host
	ids      map[int64]*host
	known    hostSet // hosts that queueLoad has read
	created  []*row  // new rows in the order of Add
	expected int     // maximum number of new rows, unless another worker changes the hosts
	numbers  struct{ rows, captures []int64 }
	captures []*newCapture
	newKeys  []frontier.Key // keys to add to the cache of seen keys after the commit
	dropped  int64          // number of URLs that exceeded limit
}

// A mode selects the lock of a transaction. A lease is as durable as all other
// changes: if a crash of the server undid a claim, the next claim would get the
// same epoch, and both workers could complete items of the host.
type mode uint8

const (
	shared    mode = iota // runs at the same time as other transactions
	exclusive             // runs alone
)

// write executes f in a transaction. When write returns nil, the changes are on
// disk. After the cancellation of ctx, a transaction that has started gets
// graceTime to complete. The function f can be called several times.
func (e *engine) write(ctx context.Context, m mode, f func(*tx) error) error {
	return e.writeAfter(ctx, m, func(*tx, *pgx.Batch) {}, f)
}

// writeAfter is like write, but sends the statements that the function first
// queues together with the start of the transaction. This saves a round trip.
func (e *engine) writeAfter(ctx context.Context, m mode, first func(*tx, *pgx.Batch), f func(*tx) error) error {
	lane := e.lanes.take()
	var uncertain *tx // transaction whose commit failed with an unknown result
	defer func() {
		if uncertain == nil {
			e.lanes.give(lane)
		}
	}()
	return e.retry(ctx, func(ctx context.Context) error {
		if uncertain != nil {
			done, err := e.committed(ctx, lane, uncertain.id.String)
			if done {
				uncertain.remember()
			}
			if err != nil {
				return err
			}
			if uncertain = nil; done {
				return nil
			}
		}
		attempt := func(ctx context.Context) (err error) {
			uncertain, err = e.attempt(ctx, m, lane, first, f)
			return err
		}
		if m == exclusive {
			return e.patient(ctx, attempt)
		}
		return brief(ctx, attempt)
	})
}

// attempt executes f in a transaction once. If the commit failed with an unknown
// result, it returns the transaction.
func (e *engine) attempt(ctx context.Context, m mode, l *lane, first func(*tx, *pgx.Batch), f func(*tx) error) (uncertain *tx, err error) {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	if m == exclusive {
		reply := replyOf(conn.Conn())
		reply.limit.Store(maxLargeReply)
		defer reply.limit.Store(0)
	}
	ctx, cancel := lasting(ctx)
	defer cancel()
	t := &tx{
		Conn: conn.Conn(), ctx: ctx, e: e, lane: l, limit: e.limit.Load(),
		rows: map[frontier.Key]*row{}, hosts: map[string]*host{}, ids: map[int64]*host{}, known: newHostSet(),
	}
	l.number++
	if err = t.start(m, first); err == nil {
		err = f(t)
	}
	if err == nil {
		err = t.prepare()
	}
	if err != nil {
		t.rollback()
		return nil, err
	}
	if err := t.commit(); err != nil {
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR" {
			t.rollback()
			return nil, err
		}
		if t.id.Valid {
			uncertain = t
		}
		return uncertain, errors.Join(errUncertain, err)
	}
	t.remember()
	return nil, nil
}

// queueNumber queues a statement that reads the number of the transaction. Most
// transactions send it together with other statements.
func (t *tx) queueNumber(b *pgx.Batch) {
	b.Queue("select pg_current_xact_id_if_assigned()::text").QueryRow(func(r pgx.Row) error { return r.Scan(&t.id) })
}

// prepare reads the number of the transaction, unless it is known. The server
// assigns a number at the first change.
func (t *tx) prepare() error {
	if t.id.Valid || t.readOnly {
		return nil
	}
	t.queueTotals(&t.last)
	t.queueNumber(&t.last)
	return t.sendLast()
}

// commit sends the last statements and the commit together.
func (t *tx) commit() error {
	t.queueTotals(&t.last)
	if t.id.Valid {
		t.queueReceipt(&t.last)
	}
	t.last.Queue("commit")
	return t.sendLast()
}

// sendLast sends the statements in t.last at once, instead of together with the
// commit.
func (t *tx) sendLast() error {
	b := t.last
	t.last = pgx.Batch{}
	return t.send(&b)
}

// rollback ends the transaction without changes. If it fails, the connection is
// closed, and the server rolls back.
func (t *tx) rollback() { t.exec("rollback") }

// remember updates the engine after the commit of t.
func (t *tx) remember() {
	t.e.seen.Remember(t.run, t.newKeys)
	t.e.dropped.Add(t.dropped)
	for id, h := range t.ids {
		if h.added > 0 {
			t.e.rooms.add(id, h.added)
		}
	}
}

// txTime is the SQL expression for the time of the transaction, as in tx.now.
// The statements of a transaction must not read the clock again: Claim would
// find a host due because of an item that must still wait at the time of the
// transaction.
const txTime = "current_setting('fetch.now')::bigint"

// start locks the crawl and reads the state of the newest run. It also sends
// the statements that the function first queues.
func (t *tx) start(m mode, first func(*tx, *pgx.Batch)) error {
	var b pgx.Batch
	b.Queue("begin")
	switch m {
	case exclusive:
		b.Queue(ownCrawl)
		b.Queue(defaultPlans)
	default:
		b.Queue(shareCrawl)
	}
	var incarnation int64
	var session string
	var sealed bool
	b.Queue("select run, live, set_config('fetch.now', ("+timeNow+`)::text, true)::bigint, coalesce(w.incarnation, 0), coalesce(w.session, ''), (select rows is not null from seal)
		from book left join worker w on w.name = $2`, t.e.clock(), t.e.worker.Name).QueryRow(func(r pgx.Row) error {
		return r.Scan(&t.run, &t.live, &t.now, &incarnation, &session, &sealed)
	})
	first(t, &b)
	if err := t.send(&b); err != nil {
		return err
	}
	t.e.run.Store(t.run)
	if err := t.e.checkWorker(incarnation, session); err != nil || !sealed {
		return err
	}
	return t.exec("update seal set rows = null")
}

// send sends all statements of a batch at once and reads their results.
func (t *tx) send(b *pgx.Batch) error { return t.SendBatch(t.ctx, b).Close() }

// exec executes one statement.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.Exec(t.ctx, query, args...)
	return err
}

// nullTime returns the value that represents a time, or nil for the zero Time.
func nullTime(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	n := rules.Micros(at)
	return &n
}

func timeOf(n pgtype.Int8) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// nullBytes returns nil, which is stored as null, for an empty text.
func nullBytes(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// notNull returns the bytes of data. An empty text is stored as an empty value,
// not as null.
func notNull(data string) []byte { return append([]byte{}, data...) }

// farFuture is the value in the column "wait" of a postponed item. It is also
// the value in the column "due" of a host that has only postponed items.
const farFuture = 1<<63 - 1
