// Package postgres stores a frontier in a PostgreSQL database, so that workers
// on several machines can share one crawl.
//
// All workers of a crawl use the same PostgreSQL schema. A transaction locks
// only rows of the hosts and URLs that it changes, so that workers rarely wait
// for each other.
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/rules"
)

// engine is a frontier.Frontier that uses a PostgreSQL database.
type engine struct {
	pool      *pgxpool.Pool
	now       func() time.Time // clock, or nil for the clock of the database
	mustExist bool             // if true, missing tables are an error
	session   string           // random identifier of this process as a worker
	joined    bool             // if true, the worker is registered with this session
	worker    frontier.Worker  // worker that uses the engine; its zero value owns no leases and files
	slot      int              // row of the table tally that this engine changes
	seen      rules.SeenKeys
	run       atomic.Int64 // number of the run in the most recent transaction
	limit     atomic.Int64 // limit set by SetPendingLimit
	dropped   atomic.Int64
	skipped   skippedHosts
	pending   pendingCounts
	lanes     lanes
	down      atomic.Bool // if true, an outage was reported
}

// idleTime is the time after which the server ends the transaction of a worker
// that sends no statement. For example, its process or its network is suspended.
// Its locks would otherwise stop the crawl.
const idleTime = "5s"

// sessionPrefix is the beginning of the name under which a worker connects to the
// server. The identifier of the process follows.
const sessionPrefix = "fetch "

// planSettings make the server plan each statement only once per connection.
// Planning every execution takes a third of the server's processor time. The
// statements of a worker find all rows by indexes. A plan of a new crawl with
// almost empty tables must use them too, because the same plan is used when the
// tables are large.
var planSettings = map[string]string{
	"plan_cache_mode": "force_generic_plan", "jit": "off", "enable_seqscan": "off", "enable_bitmapscan": "off",
	"enable_hashjoin": "off", "enable_mergejoin": "off",
}

// defaultPlans undoes planSettings until the end of the transaction. It is used
// in transactions that read large parts of the tables.
const defaultPlans = `select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'on', true),
	set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true),
	set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)`

// slots is the number of rows in the table tally.
const slots = 16

// A Database is a frontier.Database in a PostgreSQL schema.
type Database struct{ url string }

// New returns the Database with the given URL, such as
// "postgres://USER@HOST/DATABASE?search_path=SCHEMA". The environment variables
// of libpq, such as PGHOST and PGPASSWORD, supply missing values. The clock of
// the database determines all times. Join creates the schema if it is missing.
func New(url string) Database { return Database{url} }

// Join implements frontier.Database.
func (d Database) Join(ctx context.Context, w *frontier.Worker) (frontier.Shared, error) {
	return shareable(open(ctx, d.url, w, &engine{}))
}

// View implements frontier.Database.
func (d Database) View(ctx context.Context) (frontier.Shared, error) {
	return shareable(open(ctx, d.url, &frontier.Worker{}, &engine{mustExist: true}))
}

// shareable returns e, or nil if err is not nil. A nil engine in an interface
// would not be nil.
func shareable(e *engine, err error) (frontier.Shared, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// open opens the frontier with the engine e. The caller has set only the fields
// now and mustExist of e.
func open(ctx context.Context, dsn string, w *frontier.Worker, e *engine) (*engine, error) {
	e.session, e.worker = rand.Text(), *w
	e.slot = newSlot(e.session)
	config, schema, err := e.configure(dsn)
	if err != nil {
		return nil, err
	}
	if e.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	err = e.waitStart(ctx, func() error { return e.patient(ctx, func(ctx context.Context) error { return e.migrate(ctx, schema) }) })
	if err == nil {
		err = e.join(ctx)
	}
	if err != nil {
		e.pool.Close()
		return nil, fmt.Errorf("frontier: %w", err)
	}
	w.Incarnation = e.worker.Incarnation
	return e, nil
}

// startTime is the maximum time that Open waits for a server that is starting
// or is closing connections.
const startTime = 30 * time.Second

// waitStart calls f repeatedly while the server is starting. A refused
// connection is an error, because the address can be wrong.
func (e *engine) waitStart(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var last error
	err := e.retry(ctx, func(context.Context) error {
		last = f()
		var network *net.OpError
		if unreachable := errors.As(last, &network) && network.Op == "dial"; isOutage(last) && !unreachable || isConflict(last) {
			return last
		}
		return nil
	})
	return cmp.Or(last, err)
}

// newSlot returns the slot for an engine with the given identifier.
func newSlot(session string) int {
	h := fnv.New32a()
	fmt.Fprint(h, session)
	return int(h.Sum32() % slots)
}

// Close waits for running calls and closes all connections.
func (e *engine) Close() error {
	e.pool.Close()
	return nil
}

// maxLimit is the maximum limit of pending URLs. It prevents an overflow of
// sums.
const maxLimit = 1 << 62

func (e *engine) SetPendingLimit(n int64) {
	e.limit.Store(min(n, maxLimit))
	e.pending.reset()
}

// clock returns the current time of a test clock, or nil if the database
// determines the time.
func (e *engine) clock() *int64 {
	if e.now == nil {
		return nil
	}
	n := rules.Micros(e.now())
	return &n
}

// timeNow is the SQL expression of the current time. Its parameter is the result
// of clock.
const timeNow = "coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000000)::bigint)"

// errRetry means that another worker changed a row between two statements, so
// that the transaction must start again.
var errRetry = errors.New("frontier: too many conflicts with other workers")
