package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/turn"
)

// A Pool keeps idle sessions and runs requests on them. The zero value is ready
// for use. A Pool is safe for concurrent use, but its fields must not be
// changed after the first use.
//
// Sessions are stored by key, which is usually the result of [Key]. A request
// uses a session with the same key. It may also use a session whose key differs
// only in the permissions, if the function Permits allows it.
//
// If a server does not answer on a new session while it keeps another one open,
// the Pool closes an idle session. It learns how many sessions the server serves
// at the same time, and later requests wait for each other.
//
// Idle sessions are closed after IdleTimeout, and all idle sessions are closed
// when the channel Done is closed. A background goroutine closes them. It runs
// only while the Pool has idle sessions.
type Pool[S Session] struct {
	IdleTimeout   time.Duration   // maximum idle time; zero means the constant IdleTimeout
	MaxIdlePerKey int             // maximum number of idle sessions with the same key; zero means 8
	MaxIdle       int             // maximum number of idle sessions; zero means no limit
	Done          <-chan struct{} // closes all idle sessions when closed; may be nil

	// WaitTimeout limits how long a request waits for a session that another
	// request uses. A request waits only if the server accepts no more sessions
	// (a [fetch.TryLater] error). Zero means that requests do not wait.
	WaitTimeout time.Duration

	// NoGreeting means that the server sends nothing before the first request,
	// so that a session can be open although the server does not serve it yet.
	// The driver then calls [Lease.Answered].
	NoGreeting bool

	// Permits reports whether a request with the given context may use an idle
	// session whose key has another result of [fetch.Net.Key]. If Permits is
	// nil, requests use only sessions with the same key.
	Permits func(ctx context.Context, s S) bool

	mu            sync.Mutex
	idle          map[string][]idleSession[S] // by key, oldest first; no empty slices
	servers       map[string]*server          // servers with sessions in use, by serverOf(key)
	count         int                         // number of idle sessions
	closerRunning bool
}

type idleSession[S Session] struct {
	session S
	expires time.Time
}

// Do performs a request on an idle session, or on a new session if no idle
// session is usable. It calls open to create a session, and calls use with a
// lease of the session. The function use must end the lease, for example
// through the body of a response. If use fails, Do ends the lease.
//
// The server may have closed the idle session. If use fails on a stale session
// or returns [ErrStale], Do reports a restart to the Trace and calls use with
// another session. If ctx is canceled, Do returns the cause of the
// cancellation.
func (p *Pool[S]) Do(
	ctx context.Context, key string, trace *trace.Trace, open func() (S, error), use func(*Lease[S]) error,
) error {
	for {
		p.makeRoom(ctx, key)
		s, warm := p.claimIdle(ctx, key, trace)
		if !warm {
			p.closeSurplus(key)
		}
		w := p.startWatch(key, warm)
		if !warm {
			var err error
			if s, err = p.openSession(ctx, key, open); err != nil {
				p.failWatch(w, err, trace)
				p.failLease(key)
				if fetch.FaultOf(err) == fetch.TryLater && p.waitForSession(ctx, key) {
					turn.Pause(ctx)
					trace.Restarted()
					continue
				}
				return causeOr(ctx, err)
			}
			if !p.NoGreeting {
				p.markAnswered(w, trace)
			}
		}
		l := p.lease(ctx, key, trace, s, w)
		err := use(l)
		if err == nil {
			return nil
		}
		p.failWatch(l.watch, err, trace)
		stale := warm && (errors.Is(err, ErrStale) || l.Session.Stale())
		l.End(!stale)
		if !stale || ctx.Err() != nil {
			return causeOr(ctx, err)
		}
		trace.Restarted()
	}
}

// causeOr returns the cause of the cancellation of ctx, or err if ctx is not
// canceled.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// claimIdle returns the most recently used idle session with the given key, or
// else a session that Permits allows. It returns false if the Pool has no usable
// session.
func (p *Pool[S]) claimIdle(ctx context.Context, key string, trace *trace.Trace) (s S, ok bool) {
	for {
		s, ok = p.popIdle(key)
		if !ok {
			s, ok = p.popPermitted(ctx, key)
		}
		if !ok || s.Claim(trace) {
			return s, ok
		}
		s.Close()
	}
}

func (p *Pool[S]) popIdle(key string) (s S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle[key]) - 1
	if last < 0 {
		return s, false
	}
	return p.removeIdle(key, last, last+1)[0].session, true
}

// popPermitted removes and returns an idle session that Permits allows, and
// whose key differs from the given key only in the result of [fetch.Net.Key].
func (p *Pool[S]) popPermitted(ctx context.Context, key string) (s S, ok bool) {
	if p.Permits == nil {
		return s, false
	}
	server, _, rest := splitKey(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, idle := range p.idle {
		if sv, _, r := splitKey(other); other == key || sv != server || r != rest {
			continue
		}
		for i := len(idle) - 1; i >= 0; i-- {
			if p.Permits(ctx, idle[i].session) {
				return p.removeIdle(other, i, i+1)[0].session, true
			}
		}
	}
	return s, false
}

// Put adds an idle session to the Pool. If the number of sessions then exceeds
// MaxIdlePerKey or MaxIdle, Put closes the session that has been idle longest.
func (p *Pool[S]) Put(key string, s S) {
	idle := p.IdleTimeout
	if idle <= 0 {
		idle = IdleTimeout
	}
	closeAll(p.add(key, idleSession[S]{s, time.Now().Add(idle)}, idle))
}

// closeAll closes sessions that were removed from a Pool. The mutex of the Pool
// must not be held, because Close can block.
func closeAll[S Session](removed []idleSession[S]) {
	for _, e := range removed {
		e.session.Close()
	}
}

// add appends e to the idle sessions of key. It removes and returns the
// sessions that exceed the limits.
func (p *Pool[S]) add(key string, e idleSession[S], idle time.Duration) (surplus []idleSession[S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.MaxIdlePerKey
	if limit <= 0 {
		limit = 8
	}
	if p.idle == nil {
		p.idle = map[string][]idleSession[S]{}
	}
	p.idle[key] = append(p.idle[key], e)
	p.count++
	surplus = p.removeIdle(key, 0, max(len(p.idle[key])-limit, 0))
	if p.MaxIdle > 0 && p.count > p.MaxIdle {
		surplus = append(surplus, p.removeOldest())
	}
	if !p.closerRunning {
		p.closerRunning = true
		go p.closeExpired(idle)
	}
	return surplus
}

// removeOldest removes and returns the session that has been idle longest. The
// caller must hold p.mu.
func (p *Pool[S]) removeOldest() idleSession[S] {
	first := ""
	for key, idle := range p.idle {
		if old, ok := p.idle[first]; !ok || idle[0].expires.Before(old[0].expires) {
			first = key
		}
	}
	return p.removeIdle(first, 0, 1)[0]
}

// removeIdle removes and returns the idle sessions i to j-1 of key. The caller
// must hold p.mu.
func (p *Pool[S]) removeIdle(key string, i, j int) []idleSession[S] {
	removed := slices.Clone(p.idle[key][i:j])
	p.count -= j - i
	p.idle[key] = slices.Delete(p.idle[key], i, j)
	if len(p.idle[key]) == 0 {
		delete(p.idle, key)
	}
	return removed
}

// closeExpired closes each idle session when its idle time is over. It returns
// when the Pool has no more idle sessions.
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
		closeAll(over)
		if next.IsZero() {
			return
		}
		timer.Reset(time.Until(next))
	}
}

// removeExpired removes and returns the idle sessions for which expired returns
// true. It also returns the next expiry time, or the zero time if no idle
// session is left.
func (p *Pool[S]) removeExpired(expired func(idleSession[S]) bool) (over []idleSession[S], next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, idle := range p.idle {
		n := 0
		for n < len(idle) && expired(idle[n]) {
			n++
		}
		if n < len(idle) && (next.IsZero() || idle[n].expires.Before(next)) {
			next = idle[n].expires
		}
		over = append(over, p.removeIdle(key, 0, n)...)
	}
	p.closerRunning = !next.IsZero()
	return over, next
}
