package sessions

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

const (
	firstPause = 10 * time.Millisecond // first pause after a session was closed
	lastPause  = time.Second           // later pauses are not longer
)

// A server counts the sessions that are in use at one server.
type server struct {
	leased  int           // number of sessions in use or being opened
	waiting int           // number of requests that wait for a session
	freed   chan struct{} // wakes a waiting request; capacity 1
	capacity
}

// serverOf returns the part of a key that identifies the server. See [Key].
func serverOf(key string) string {
	name, _, _ := strings.Cut(key, "\x00")
	return name
}

// addServer returns the server of key, which it adds if necessary. The caller
// must hold p.mu.
func (p *Pool[S]) addServer(key string) *server {
	sv := p.servers[serverOf(key)]
	if sv != nil {
		return sv
	}
	for name, old := range p.servers {
		if len(p.servers) < maxServers {
			break
		}
		if old.leased+old.waiting == 0 {
			delete(p.servers, name)
		}
	}
	if p.servers == nil {
		p.servers = map[string]*server{}
	}
	sv = &server{freed: make(chan struct{}, 1)}
	p.servers[serverOf(key)] = sv
	return sv
}

// endLease decrements the number of sessions in use at the server of the lease,
// and wakes one waiting request.
func (p *Pool[S]) endLease(key string, w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeWatch(w)
	w.server.leased--
	p.wakeOrDelete(key, w.server)
}

// failLease decrements the number of sessions in use after a session could not
// be opened. It wakes a waiting request only if no session is left, because
// the request would fail again.
func (p *Pool[S]) failLease(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sv := p.servers[serverOf(key)]
	if sv.leased--; sv.leased == 0 {
		p.wakeOrDelete(key, sv)
	}
}

// wakeOrDelete wakes a request that waits for the server of key. If the server
// has no waiting requests and no sessions in use, wakeOrDelete deletes it. The
// caller must hold p.mu.
func (p *Pool[S]) wakeOrDelete(key string, sv *server) {
	select {
	case sv.freed <- struct{}{}:
	default:
	}
	if sv.unused() {
		delete(p.servers, serverOf(key))
	}
}

// unused reports whether the Pool needs no data about s.
func (s *server) unused() bool { return s.leased+s.waiting == 0 && !s.learned() }

// openSession calls open to create a session.
//
// If the server accepts no more sessions, openSession closes the idle sessions
// that the request must not use, and calls open again. A server may notice
// with a delay that a session was closed, so the attempts follow after pauses.
func (p *Pool[S]) openSession(ctx context.Context, key string, open func() (S, error)) (S, error) {
	for pause := time.Duration(0); ; pause *= 2 {
		s, err := open()
		if err == nil && ctx.Err() != nil {
			s.Close()
			err = ctx.Err()
		}
		if fetch.FaultOf(err) != fetch.TryLater {
			return s, err
		}
		if p.closeOthers(key) {
			pause = firstPause
		}
		if pause == 0 || pause > lastPause || !sleep(ctx, pause) {
			return s, err
		}
	}
}

// sleep pauses for d. It returns false if ctx is canceled.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// closeOthers closes the idle sessions that have the same server as key, but
// another key. It reports whether there were any.
func (p *Pool[S]) closeOthers(key string) bool {
	p.mu.Lock()
	var closing []idleSession[S]
	for other, idle := range p.idle {
		if other != key && serverOf(other) == serverOf(key) {
			closing = append(closing, p.removeIdle(other, 0, len(idle))...)
		}
	}
	p.mu.Unlock()
	closeAll(closing)
	return len(closing) > 0
}

// waitForSession waits until another request releases a session at the server
// of key. It returns false after WaitTimeout or when ctx is canceled. It also
// returns false if no session at this server is in use. If an idle session with
// the given key is available, waitForSession returns true immediately.
func (p *Pool[S]) waitForSession(ctx context.Context, key string) bool {
	p.mu.Lock()
	sv, available := p.servers[serverOf(key)], len(p.idle[key]) > 0
	if sv == nil || sv.leased == 0 || available || p.WaitTimeout <= 0 {
		p.mu.Unlock()
		return available
	}
	sv.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if sv.waiting--; sv.unused() {
			delete(p.servers, serverOf(key))
		}
	}()
	timer := time.NewTimer(p.WaitTimeout)
	defer timer.Stop()
	select {
	case <-sv.freed:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}
