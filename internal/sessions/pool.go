package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A Pool keeps idle sessions by key and runs requests on them. Its fields are
// set before its first use; the zero value is ready. It is safe for concurrent
// use.
//
// Requests that may not share a session must not have the same key. A key
// holds fetch.Net.Key, the address, the user, and how TLS is used.
//
// The Pool closes a session that is idle for too long, or after Done. A
// goroutine does so. It runs from the first idle session until none is left.
type Pool[S Session] struct {
	IdleTimeout   time.Duration   // how long a session may be idle; 0: IdleTime
	MaxIdlePerKey int             // idle sessions of one key; 0: 8
	MaxIdle       int             // idle sessions of all keys; 0: no limit
	Done          <-chan struct{} // ends all idle sessions; nil: never

	// Wait is how long a request waits for a session of its key that another
	// request uses, if the server accepts no more sessions now (TryLater).
	WaitTimeout time.Duration

	mu            sync.Mutex
	queues        map[string]*queue[S]
	count         int // idle sessions
	closerRunning bool
}

// A queue is what the Pool knows of one key.
type queue[S Session] struct {
	idle    []idleSession[S] // the oldest first
	leased  int              // sessions that requests use
	waiting int              // requests that wait for one of them
	freed   chan struct{}    // has room for one signal: a session was given back
}

type idleSession[S Session] struct {
	session S
	expires time.Time
}

// Do runs use with a lease of an idle session of key, or of a new session from
// open if there is none. Use ends the lease, at once or through the body of a
// response; Do ends it if use fails.
//
// A server may have closed an idle session. If use fails and the session is
// stale, or use returns ErrStale, Do runs use again with another session,
// after a call of trace.Again. After the end of ctx the error is its cause.
func (p *Pool[S]) Do(ctx context.Context, key string, trace *fetch.Trace, open func() (S, error), use func(*Lease[S]) error) error {
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

// causeOr returns why ctx ended, or else err.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// claim returns the session of key that was idle for the shortest time and
// accepts the request.
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

// Put takes over an idle session. If Max or All are idle already, the oldest
// one is closed.
func (p *Pool[S]) Put(key string, s S) {
	idle := p.IdleTimeout
	if idle <= 0 {
		idle = IdleTimeout
	}
	for _, old := range p.add(key, idleSession[S]{s, time.Now().Add(idle)}, idle) {
		old.session.Close()
	}
}

// add returns the sessions that exceed the limits.
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

// queue returns the queue of key; p.mu is held.
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

// oldest removes the session that was idle for the longest time; p.mu is held.
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

// cut removes the idle sessions from i up to j; p.mu is held.
func (p *Pool[S]) removeIdle(q *queue[S], i, j int) {
	p.count -= j - i
	q.idle = slices.Delete(q.idle, i, j)
}

// forget removes a queue that holds nothing; p.mu is held.
func (p *Pool[S]) deleteEmptyQueue(key string, q *queue[S]) {
	if len(q.idle)+q.leased+q.waiting == 0 {
		delete(p.queues, key)
	}
}

// wait returns true when a session of key was given back, and false after
// p.Wait, or at once if no request uses one.
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

// watch closes expired sessions, and returns when no session is idle. It
// wakes up only when the oldest session expires.
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

// expired removes the sessions that have expired, and returns when the next
// one will. A zero time ends watch.
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
