package sessions

import (
	"context"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/turn"
)

// Some servers serve only a few connections at a time, often a single one. They
// accept another connection, but they answer on it only after one of the
// earlier connections was closed. A pooled session could then delay a new
// session until its idle time is over.
//
// A Pool therefore observes each new session. If the server does not answer for
// some time while it has answered on other sessions, the Pool closes one of
// these. If the server then answers promptly for enoughDelays sessions, the Pool
// limits the number of sessions at this server.
//
// A slow server also answers on a new session at the time at which it answers on
// another one. A session is therefore closed only if it served a complete request
// while the new session waited, or was idle for the time grace. Each delay
// changes the patience, so that the response time of a server does not equal it
// twice.
const (
	patience     = 500 * time.Millisecond // initial time before a session is closed for a new one
	grace        = patience / 2           // time for which the server can answer before an idle session is closed
	maxPatience  = 8 * time.Second
	enoughDelays = 2
	maxServers   = 1024 // number of stored servers at which unused ones are deleted
)

// A capacity records how many sessions a server serves at the same time.
type capacity struct {
	limit    int           // maximum number of sessions; 0 if unknown
	proven   int           // number of sessions that were served at the same time
	delays   int           // number of new sessions that were delayed by other sessions
	patience time.Duration // zero means the constant patience
	answered int           // number of sessions in use on which the server has answered
	reused   int           // number of sessions in use that had served an earlier request
	delayed  []*watch      // new sessions for which an earlier session will be closed
	heard    int           // number of sessions in use on which the server has answered the present request
	closed   time.Time     // when a session was closed for another one; zero after that one was answered
	serving  int           // number of sessions that were served at that time
}

// learned reports whether c must be kept for later sessions.
func (c *capacity) learned() bool { return c.limit > 0 || c.proven > 1 || c.delays > 0 }

// A watch observes a session in use until the server answers on it.
type watch struct {
	server   *server
	timer    *time.Timer // nil for a reused session
	started  time.Time
	reused   bool // the session had served an earlier request
	answered bool
	heard    bool      // the server has answered the present request, as far as the Pool knows
	ended    bool      // the lease has ended
	delayed  time.Time // when the patience was over; zero if it is not
}

// startWatch observes a session that a request uses from now on. A reused
// session counts as answered.
func (p *Pool[S]) startWatch(key string, reused bool) *watch {
	p.mu.Lock()
	defer p.mu.Unlock()
	sv := p.servers[serverOf(key)]
	w := &watch{server: sv, started: time.Now(), reused: reused, answered: reused}
	if reused {
		if !p.NoGreeting {
			w.hear()
		}
		sv.answered++
		sv.reused++
		return w
	}
	if sv.patience == 0 {
		sv.patience = patience
	}
	w.timer = time.AfterFunc(sv.patience, func() { p.checkDelay(key, w) })
	return w
}

// hear records that the server has answered the present request. The caller must
// hold the mutex of the Pool.
func (w *watch) hear() {
	if !w.heard && !w.ended {
		w.heard = true
		w.server.heard++
	}
}

// Opening must be called before a driver opens a connection to the server of key
// by itself. The driver must call end when the server has answered or has failed.
// Meanwhile the Pool treats the connection like a new session, and closes idle
// sessions if the server waits for their end.
func (p *Pool[S]) Opening(ctx context.Context, key string, t *trace.Trace) (end func(error)) {
	p.makeRoom(ctx, key)
	p.closeSurplus(key)
	w := p.startWatch(key, false)
	return func(err error) {
		if err == nil {
			p.markAnswered(w, t)
		} else {
			p.failWatch(w, err, t)
		}
		p.endLease(key, w)
	}
}

// checkDelay is called while the server has not answered on a new session. If
// other sessions may be the reason, checkDelay closes an idle one. If none is
// idle, mustClose selects the session.
func (p *Pool[S]) checkDelay(key string, w *watch) {
	p.mu.Lock()
	sv := w.server
	if w.answered || w.timer == nil {
		p.mu.Unlock()
		return
	}
	w.timer.Reset(max(sv.patience, time.Since(w.started)))
	var closing []idleSession[S]
	now, n, place := time.Now(), sv.answered+p.countIdle(key), sv.hasPlace()
	if n > 0 && n >= sv.proven || place {
		if w.delayed.IsZero() {
			w.delayed = now
		}
		if !place {
			sv.serving, closing = n, p.removeIdleAt(key, 1)
		}
		if len(closing) > 0 {
			sv.closed = now
		} else if !slices.Contains(sv.delayed, w) {
			sv.delayed = append(sv.delayed, w)
		}
	}
	p.mu.Unlock()
	closeAll(closing)
}

// hasPlace reports whether a session was closed for another one recently, and
// the server has not answered on that one yet.
func (c *capacity) hasPlace() bool { return !c.closed.IsZero() && time.Since(c.closed) < patience }

// markAnswered records that the server has answered on a new session. It
// reports a limit of the server that it has found to t.
func (p *Pool[S]) markAnswered(w *watch, t *trace.Trace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.answered {
		w.hear()
	}
	if w.answered || w.timer == nil {
		return
	}
	sv, now := w.server, time.Now()
	p.stopWatch(w)
	w.answered = true
	w.hear()
	sv.answered++
	sv.proven = max(sv.proven, sv.reused+1)
	waited, after := sv.closed.Sub(w.started), now.Sub(sv.closed)
	switch {
	case waited >= patience && after <= min(waited/4, patience):
		sv.closed = time.Time{}
		sv.patience = min(sv.patience+sv.patience/2, maxPatience)
		if sv.delays++; sv.delays >= enoughDelays && sv.serving >= sv.proven {
			sv.setLimit(sv.serving, t)
		}
	case !w.delayed.IsZero(): // a slow response
		sv.delays = 0
		sv.patience = min(2*sv.patience, maxPatience)
	}
}

// failWatch records that a new session failed before the server answered. The
// server is limited only if it answered on another session that is still in use.
func (p *Pool[S]) failWatch(w *watch, err error, t *trace.Trace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !w.delayed.IsZero() && !w.answered && w.server.heard > 0 && fetch.FaultOf(err) == fetch.Timeout {
		w.server.setLimit(w.server.serving, t)
	}
	p.stopWatch(w)
}

// setLimit records that the server serves n sessions at a time.
func (c *capacity) setLimit(n int, t *trace.Trace) {
	if n > c.limit {
		c.limit = n
		t.Notef("server answers on at most %d connections at a time: using no more", n)
	}
}

// stopWatch ends the observation of w. The caller must hold p.mu.
func (p *Pool[S]) stopWatch(w *watch) {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	w.server.delayed = slices.DeleteFunc(w.server.delayed, func(o *watch) bool { return o == w })
}

// endWatch ends the observation of w before its session is closed or becomes
// idle.
func (p *Pool[S]) endWatch(w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeWatch(w)
}

// removeWatch removes w from the counts of its server. The caller must hold p.mu.
func (p *Pool[S]) removeWatch(w *watch) {
	p.stopWatch(w)
	if w.ended {
		return
	}
	w.ended = true
	if w.answered {
		w.server.answered--
	}
	if w.reused {
		w.server.reused--
	}
	if w.heard {
		w.server.heard--
	}
}

// mustClose reports whether a session is closed at the end of its lease, because
// another session waits for the server.
func (p *Pool[S]) mustClose(w *watch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	sv := w.server
	if len(sv.delayed) > 0 && !sv.hasPlace() {
		next := sv.delayed[0]
		if w.reused && !w.started.Before(next.delayed) {
			sv.delayed, sv.closed = sv.delayed[1:], time.Now()
			return true
		}
		next.timer.Reset(grace)
	}
	return sv.limit > 0 && sv.leased > sv.limit
}

// makeRoom waits until the server of key may have another session in use, and
// counts that session. It waits for at most SlotTimeout, and then for the pause
// between requests to the host.
func (p *Pool[S]) makeRoom(ctx context.Context, key string) {
	if p.countLease(ctx, key) {
		turn.Pause(ctx)
	}
}

// countLease counts another session in use at the server of key. If the server
// is full, it first waits and returns true.
func (p *Pool[S]) countLease(ctx context.Context, key string) (waited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sv := p.addServer(key)
	if waited = sv.full(); waited {
		sv.waiting++
		p.waitForRoom(ctx, sv)
		sv.waiting--
	}
	sv.leased++
	return waited
}

// waitForRoom waits for a session at a full server. The caller must hold p.mu,
// which waitForRoom unlocks while it waits.
func (p *Pool[S]) waitForRoom(ctx context.Context, sv *server) {
	timer := time.NewTimer(SlotTimeout)
	defer timer.Stop()
	for over := false; sv.full() && !over; {
		p.mu.Unlock()
		select {
		case <-sv.freed:
		case <-timer.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		p.mu.Lock()
	}
}

// full reports whether the server serves no further session.
func (s *server) full() bool { return s.limit > 0 && s.leased >= s.limit }

// closeSurplus closes idle sessions at the server of key, if the server would
// otherwise have too many sessions after another one is opened.
func (p *Pool[S]) closeSurplus(key string) {
	p.mu.Lock()
	var closing []idleSession[S]
	if sv := p.servers[serverOf(key)]; sv.limit > 0 {
		closing = p.removeIdleAt(key, sv.leased+p.countIdle(key)-sv.limit)
	}
	p.mu.Unlock()
	closeAll(closing)
}

// countIdle returns the number of idle sessions at the server of key. The caller
// must hold p.mu.
func (p *Pool[S]) countIdle(key string) (n int) {
	for other, idle := range p.idle {
		if serverOf(other) == serverOf(key) {
			n += len(idle)
		}
	}
	return n
}

// removeIdleAt removes and returns up to n idle sessions at the server of key.
// The caller must hold p.mu.
func (p *Pool[S]) removeIdleAt(key string, n int) (removed []idleSession[S]) {
	for other, idle := range p.idle {
		if serverOf(other) == serverOf(key) {
			removed = append(removed, p.removeIdle(other, 0, max(min(n-len(removed), len(idle)), 0))...)
		}
	}
	return removed
}
