// Package pool keeps idle sessions for those who may use them: control
// connections of FTP, NNTP, IMAP and their like, on which one user is logged in
// and one conversation takes place at a time.
//
// Put a session when its conversation has ended cleanly, and Get one, under
// the same key, before opening another. Whoever may not share a session must
// not have the same key: it holds what the door says of the request
// (fetch.Net.Key), scheme, host, port, user, and how TLS is used.
package pool

import (
	"io"
	"slices"
	"sync"
	"time"
)

// A Pool keeps idle sessions by key. Its fields are set before its first use;
// the zero value is ready. It is safe for concurrent use.
//
// A session that waits for too long, or beyond Done, is closed by the pool:
// its Close must not take long, nor call the Pool.
type Pool[S io.Closer] struct {
	Idle time.Duration   // how long a session may wait; 0: one minute
	Max  int             // sessions that wait under one key; 0: 8
	Done <-chan struct{} // ends all that wait; nil: never

	mu      sync.Mutex
	waiting map[string][]*session[S]
}

type session[S io.Closer] struct {
	held  S
	taken chan struct{} // closed by whoever removes it
}

// Get removes the session of that key which has waited for the shortest time,
// and returns false where there is none. Its peer may have closed it
// meanwhile.
func (p *Pool[S]) Get(key string) (held S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.waiting[key]
	if len(all) == 0 {
		return held, false
	}
	s := all[len(all)-1]
	p.remove(key, s)
	return s.held, true
}

// Put takes over a session. Where Max wait already, the one that has waited
// for the longest time is closed.
func (p *Pool[S]) Put(key string, held S) {
	s := &session[S]{held, make(chan struct{})}
	if oldest := p.add(key, s); oldest != nil {
		oldest.held.Close()
	}
	go p.watch(key, s)
}

// add returns the session that has to go.
func (p *Pool[S]) add(key string, s *session[S]) (oldest *session[S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.waiting = map[string][]*session[S]{}
	}
	limit := p.Max
	if limit <= 0 {
		limit = 8
	}
	if all := p.waiting[key]; len(all) >= limit {
		oldest = all[0]
		p.remove(key, oldest)
	}
	p.waiting[key] = append(p.waiting[key], s)
	return oldest
}

// remove is called with the lock held. It reports whether s was there.
func (p *Pool[S]) remove(key string, s *session[S]) bool {
	all := p.waiting[key]
	i := slices.Index(all, s)
	if i < 0 {
		return false
	}
	close(s.taken)
	if p.waiting[key] = slices.Delete(all, i, i+1); len(all) == 1 {
		delete(p.waiting, key)
	}
	return true
}

// watch lasts as long as s waits.
func (p *Pool[S]) watch(key string, s *session[S]) {
	limit := p.Idle
	if limit <= 0 {
		limit = time.Minute
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.taken:
		return
	case <-timer.C:
	case <-p.Done:
	}
	p.mu.Lock()
	still := p.remove(key, s)
	p.mu.Unlock()
	if still {
		s.held.Close()
	}
}
