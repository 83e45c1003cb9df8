package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A Pool keeps idle sessions by key and runs requests on them. Its fields must
// be set before the first use. The zero value is ready for use. A Pool is safe
// for concurrent use.
//
// Requests that must not share a session must have different keys. A key
// includes [fetch.Net.Key], the address, the user and the TLS mode.
//
// The Pool closes sessions after IdleTimeout and when Done is closed. A
// background goroutine does this. It exits when no idle session is left.
type Pool[S Session] struct {
	IdleTimeout   time.Duration   // maximum idle time; zero means the constant IdleTimeout
	MaxIdlePerKey int             // maximum number of idle sessions per key; zero means 8
	MaxIdle       int             // maximum number of idle sessions; zero means no limit
	Done          <-chan struct{} // closes all idle sessions when closed; may be nil

	// WaitTimeout limits the time that a request waits for a session of its key
	// that is in use. Requests wait only if the server accepts no more sessions
	// (fault TryLater).
	WaitTimeout time.Duration

	mu            sync.Mutex
	queues        map[string]*queue[S]
	count         int // number of idle sessions
	closerRunning bool
}

// A queue holds the sessions of one key.
type queue[S Session] struct {
	idle    []idleSession[S] // oldest first
	leased  int              // number of sessions in use
	waiting int              // number of requests that wait for a session
	freed   chan struct{}    // signals that a session was returned; capacity 1
}

type idleSession[S Session] struct {
	session S
	expires time.Time
}

// Do calls use with a lease of an idle session of key, or of a new session from
// open. The function use ends the lease directly or through the body of a
// response. If use fails, Do ends the lease.
//
// The server may have closed an idle session. If use fails on a stale session
// or returns [ErrStale], Do calls trace.Restart and runs use again with another
// session. If ctx is canceled, Do returns the cause.
func (p *Pool[S]) Do(
	ctx context.Context, key string, trace *fetch.Trace, open func() (S, error), use func(*Lease[S]) error,
) error {
	for {
		s, warm := p.claimIdle(key, trace)
		if !warm {
			var err error
			if s, err = open(); err == nil && ctx.Err() != nil {
				s.Close()
				err = ctx.Err()
			}
			if err != nil {
				if fetch.FaultOf(err) == fetch.TryLater && p.waitForSession(ctx, key) {
					trace.Restarted()
					continue
				}
				return causeOr(ctx, err)
			}
		}
		l := p.lease(ctx, key, trace, s)
		err := use(l)
		if err == nil {
			return nil
		}
		stale := warm && (errors.Is(err, ErrStale) || l.Session.Stale())
		l.End(!stale)
		if !stale || ctx.Err() != nil {
			return causeOr(ctx, err)
		}
		trace.Restarted()
	}
}

// causeOr returns the cause of the cancellation of ctx. If ctx is not canceled,
// it returns err.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// claimIdle returns the most recently used idle session of key that accepts the
// request. It reports whether there is one.
func (p *Pool[S]) claimIdle(key string, trace *fetch.Trace) (s S, ok bool) {
	for {
		if s, ok = p.popIdle(key); !ok || s.Claim(trace) {
			return s, ok
		}
		s.Close()
	}
}

func (p *Pool[S]) popIdle(key string) (s S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[key]
	if q == nil || len(q.idle) == 0 {
		return s, false
	}
	last := len(q.idle) - 1
	s = q.idle[last].session
	p.removeIdle(q, last, last+1)
	return s, true
}

// Put adds an idle session to the Pool. If this exceeds MaxIdlePerKey or
// MaxIdle, Put closes the oldest idle session.
func (p *Pool[S]) Put(key string, s S) {
	idle := p.IdleTimeout
	if idle <= 0 {
		idle = IdleTimeout
	}
	for _, old := range p.add(key, idleSession[S]{s, time.Now().Add(idle)}, idle) {
		old.session.Close()
	}
}

// add adds e to the queue of key and returns the sessions that exceed the
// limits.
func (p *Pool[S]) add(key string, e idleSession[S], idle time.Duration) (surplus []idleSession[S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.MaxIdlePerKey
	if limit <= 0 {
		limit = 8
	}
	q := p.queue(key)
	q.idle = append(q.idle, e)
	p.count++
	if n := len(q.idle) - limit; n > 0 {
		surplus = slices.Clone(q.idle[:n])
		p.removeIdle(q, 0, n)
	}
	if p.MaxIdle > 0 && p.count > p.MaxIdle {
		surplus = append(surplus, p.removeOldest())
	}
	if !p.closerRunning {
		p.closerRunning = true
		go p.closeExpired(idle)
	}
	return surplus
}

// queue returns the queue of key. The caller must hold p.mu.
func (p *Pool[S]) queue(key string) *queue[S] {
	q := p.queues[key]
	if q == nil {
		if p.queues == nil {
			p.queues = map[string]*queue[S]{}
		}
		q = &queue[S]{freed: make(chan struct{}, 1)}
		p.queues[key] = q
	}
	return q
}

// removeOldest removes the session that has been idle for the longest time. The
// caller must hold p.mu.
func (p *Pool[S]) removeOldest() idleSession[S] {
	var first *queue[S]
	for _, q := range p.queues {
		if len(q.idle) > 0 && (first == nil || q.idle[0].expires.Before(first.idle[0].expires)) {
			first = q
		}
	}
	e := first.idle[0]
	p.removeIdle(first, 0, 1)
	return e
}

// removeIdle removes the idle sessions with index i to j-1. The caller must
// hold p.mu.
func (p *Pool[S]) removeIdle(q *queue[S], i, j int) {
	p.count -= j - i
	q.idle = slices.Delete(q.idle, i, j)
}

// deleteEmptyQueue deletes q if it has no sessions and no waiting requests. The
// caller must hold p.mu.
func (p *Pool[S]) deleteEmptyQueue(key string, q *queue[S]) {
	if len(q.idle)+q.leased+q.waiting == 0 {
		delete(p.queues, key)
	}
}

// waitForSession waits until a session of key is returned to the Pool. It
// returns false after p.WaitTimeout, after the cancellation of ctx, or if no
// session of key is in use.
func (p *Pool[S]) waitForSession(ctx context.Context, key string) bool {
	p.mu.Lock()
	q := p.queues[key]
	if q == nil || q.leased == 0 || p.WaitTimeout <= 0 {
		p.mu.Unlock()
		return false
	}
	q.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		q.waiting--
		p.deleteEmptyQueue(key, q)
	}()
	timer := time.NewTimer(p.WaitTimeout)
	defer timer.Stop()
	select {
	case <-q.freed:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// closeExpired closes sessions when they expire. It returns when no idle
// session is left.
func (p *Pool[S]) closeExpired(idle time.Duration) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		var over []idleSession[S]
		var next time.Time
		select {
		case <-p.Done:
			over, next = p.removeExpired(func(idleSession[S]) bool { return true })
		case now := <-timer.C:
			over, next = p.removeExpired(func(e idleSession[S]) bool { return !e.expires.After(now) })
		}
		for _, e := range over {
			e.session.Close()
		}
		if next.IsZero() {
			return
		}
		timer.Reset(time.Until(next))
	}
}

// removeExpired removes the sessions for which has returns true. It also
// returns the next expiry time, or the zero time if no idle session is left.
func (p *Pool[S]) removeExpired(has func(idleSession[S]) bool) (over []idleSession[S], next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, q := range p.queues {
		n := 0
		for n < len(q.idle) && has(q.idle[n]) {
			n++
		}
		over = append(over, q.idle[:n]...)
		p.removeIdle(q, 0, n)
		if len(q.idle) > 0 && (next.IsZero() || q.idle[0].expires.Before(next)) {
			next = q.idle[0].expires
		}
		p.deleteEmptyQueue(key, q)
	}
	p.closerRunning = !next.IsZero()
	return over, next
}
