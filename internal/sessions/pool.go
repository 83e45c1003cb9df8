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
	Idle time.Duration   // how long a session may be idle; 0: IdleTime
	Max  int             // idle sessions of one key; 0: 8
	All  int             // idle sessions of all keys; 0: no limit
	Done <-chan struct{} // ends all idle sessions; nil: never

	// Wait is how long a request waits for a session of its key that another
	// request uses, if the server accepts no more sessions now (TryLater).
	Wait time.Duration

	mu       sync.Mutex
	queues   map[string]*queue[S]
	count    int // idle sessions
	watching bool
}

// A queue is what the Pool knows of one key.
type queue[S Session] struct {
	idle    []entry[S]    // the oldest first
	leased  int           // sessions that requests use
	waiting int           // requests that wait for one of them
	freed   chan struct{} // has room for one signal: a session was given back
}

type entry[S Session] struct {
	session S
	until   time.Time
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
		s, warm := p.claim(key, trace)
		if !warm {
			var err error
			if s, err = open(); err == nil && ctx.Err() != nil {
				s.Close()
				err = ctx.Err()
			}
			if err != nil {
				if fetch.FaultOf(err) == fetch.TryLater && p.wait(ctx, key) {
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
func (p *Pool[S]) claim(key string, trace *fetch.Trace) (s S, ok bool) {
	for {
		if s, ok = p.get(key); !ok || s.Claim(trace) {
			return s, ok
		}
		s.Close()
	}
}

func (p *Pool[S]) get(key string) (s S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[key]
	if q == nil || len(q.idle) == 0 {
		return s, false
	}
	last := len(q.idle) - 1
	s = q.idle[last].session
	p.cut(q, last, last+1)
	return s, true
}

// Put takes over an idle session. If Max or All are idle already, the oldest
// one is closed.
func (p *Pool[S]) Put(key string, s S) {
	idle := p.Idle
	if idle <= 0 {
		idle = IdleTime
	}
	for _, old := range p.add(key, entry[S]{s, time.Now().Add(idle)}, idle) {
		old.session.Close()
	}
}

// add returns the sessions that exceed the limits.
func (p *Pool[S]) add(key string, e entry[S], idle time.Duration) (surplus []entry[S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.Max
	if limit <= 0 {
		limit = 8
	}
	q := p.queue(key)
	q.idle = append(q.idle, e)
	p.count++
	if n := len(q.idle) - limit; n > 0 {
		surplus = slices.Clone(q.idle[:n])
		p.cut(q, 0, n)
	}
	if p.All > 0 && p.count > p.All {
		surplus = append(surplus, p.oldest())
	}
	if !p.watching {
		p.watching = true
		go p.watch(idle)
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
func (p *Pool[S]) oldest() entry[S] {
	var first *queue[S]
	for _, q := range p.queues {
		if len(q.idle) > 0 && (first == nil || q.idle[0].until.Before(first.idle[0].until)) {
			first = q
		}
	}
	e := first.idle[0]
	p.cut(first, 0, 1)
	return e
}

// cut removes the idle sessions from i up to j; p.mu is held.
func (p *Pool[S]) cut(q *queue[S], i, j int) {
	p.count -= j - i
	q.idle = slices.Delete(q.idle, i, j)
}

// forget removes a queue that holds nothing; p.mu is held.
func (p *Pool[S]) forget(key string, q *queue[S]) {
	if len(q.idle)+q.leased+q.waiting == 0 {
		delete(p.queues, key)
	}
}

// wait returns true when a session of key was given back, and false after
// p.Wait, or at once if no request uses one.
func (p *Pool[S]) wait(ctx context.Context, key string) bool {
	p.mu.Lock()
	q := p.queues[key]
	if q == nil || q.leased == 0 || p.Wait <= 0 {
		p.mu.Unlock()
		return false
	}
	q.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		q.waiting--
		p.forget(key, q)
	}()
	timer := time.NewTimer(p.Wait)
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
func (p *Pool[S]) watch(idle time.Duration) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		var over []entry[S]
		var next time.Time
		select {
		case <-p.Done:
			over, next = p.expired(func(entry[S]) bool { return true })
		case now := <-timer.C:
			over, next = p.expired(func(e entry[S]) bool { return !e.until.After(now) })
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
func (p *Pool[S]) expired(has func(entry[S]) bool) (over []entry[S], next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, q := range p.queues {
		n := 0
		for n < len(q.idle) && has(q.idle[n]) {
			n++
		}
		over = append(over, q.idle[:n]...)
		p.cut(q, 0, n)
		if len(q.idle) > 0 && (next.IsZero() || q.idle[0].until.Before(next)) {
			next = q.idle[0].until
		}
		p.forget(key, q)
	}
	p.watching = !next.IsZero()
	return over, next
}
