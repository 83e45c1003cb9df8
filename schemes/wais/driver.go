package wais

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/pool"
)

type driver struct {
	Options
	env  fetch.Env
	idle pool.Pool[*session]
}

// idleTime is how long a session waits in the pool. freeWAIS closes it after
// an hour.
const idleTime = 45 * time.Second

func newDriver(o Options, env fetch.Env) *driver {
	return &driver{Options: o, env: env, idle: pool.Pool[*session]{Idle: idleTime, Done: env.Done}}
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case l.search != nil:
		return d.search(ctx, req, l)
	case l.document == nil && req.Op == fetch.Get:
		return nil, needQuery()
	case l.document == nil:
		return d.describe(ctx, req, l)
	}
	return d.retrieve(ctx, req, l)
}

// A turn is the use of a session by one request.
type turn struct {
	*session
	driver *driver
	key    string // of the session in the pool
	stop   func() bool
	over   atomic.Bool
}

// take begins a turn, and carries out its first exchange: on a session of the
// pool or, where there is none or it has died meanwhile, on a new one. Where
// first fails the turn is over.
func (d *driver) take(ctx context.Context, req *fetch.Request, size uint32, first func(*turn) error) error {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return err
	}
	key := strings.Join([]string{d.env.Net.Key(ctx), t.Address(), strconv.FormatUint(uint64(size), 10)}, "\x00")
	if s, ok := d.kept(key); ok {
		s.trace, s.answered = req.Trace, false
		turn := d.begin(ctx, s, key)
		if err = first(turn); err == nil || s.answered || ctx.Err() != nil {
			return turn.finish(ctx, err)
		}
		turn.end(false)
		req.Trace.Notef("kept connection was lost: connecting again")
	}
	conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return err
	}
	turn := d.begin(ctx, newSession(conn, req.Trace), key)
	if err = turn.init(size); err != nil {
		turn.end(false) // at rest, and yet of no use
		return turn.finish(ctx, err)
	}
	return turn.finish(ctx, first(turn))
}

// kept takes a session from the pool on which nothing arrived meanwhile.
func (d *driver) kept(key string) (*session, bool) {
	for {
		s, ok := d.idle.Get(key)
		if !ok || s.in.Buffered() == 0 && fetch.Quiet(s.conn) {
			return s, ok
		}
		s.Close()
	}
}

func (d *driver) begin(ctx context.Context, s *session, key string) *turn {
	return &turn{session: s, driver: d, key: key, stop: context.AfterFunc(ctx, s.abort)}
}

// finish ends a turn where err is not nil, and returns it, or why ctx ended.
func (t *turn) finish(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	t.end(true)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// end gives the session back, if it is to be kept and at rest, or closes it. Only
// the first call counts: behind it the session may be another's. With false it
// may come from any goroutine.
func (t *turn) end(keep bool) {
	if t.over.Swap(true) {
		return
	}
	if !t.stop() || !keep || !t.rested || t.in.Buffered() > 0 {
		t.abort()
		return
	}
	t.relax()
	t.trace = nil
	t.driver.idle.Put(t.key, t.session)
}
