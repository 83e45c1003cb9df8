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
// its Close must not take long, nor call the Pool. The goroutine that sees to it
// runs from the first Put until nothing has waited for the time of Idle, or
// until Done.
type Pool[S io.Closer] struct {
	Idle time.Duration   // how long a session may wait; 0: one minute
	Max  int             // sessions that wait under one key; 0: 8
	All  int             // sessions that wait under all keys together; 0: no limit
	Done <-chan struct{} // ends all that wait; nil: never

	mu       sync.Mutex
	waiting  map[string][]session[S] // by key, the oldest first
	count    int                     // of all that wait
	watching bool
}

type session[S io.Closer] struct {
	held  S
	until time.Time
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
	held = all[len(all)-1].held
	p.keep(key, all[:len(all)-1])
	return held, true
}

// Put takes over a session. Where Max or All wait already, the one that has
// waited for the longest time is closed.
func (p *Pool[S]) Put(key string, held S) {
	for _, s := range p.add(key, session[S]{held, time.Now().Add(p.idle())}) {
		s.held.Close()
	}
}

// add returns the sessions that have to go.
func (p *Pool[S]) add(key string, s session[S]) (surplus []session[S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		p.waiting = map[string][]session[S]{}
	}
	limit := p.Max
	if limit <= 0 {
		limit = 8
	}
	all := append(p.waiting[key], s)
	if n := len(all) - limit; n > 0 {
		surplus = slices.Clone(all[:n])
		all = slices.Delete(all, 0, n)
	}
	p.keep(key, all)
	if p.All > 0 && p.count > p.All {
		surplus = append(surplus, p.oldest())
	}
	if !p.watching {
		p.watching = true
		go p.watch()
	}
	return surplus
}

// oldest removes the session that has waited for the longest time. It is
// called with the lock held.
func (p *Pool[S]) oldest() session[S] {
	var first string
	var until time.Time
	for key, all := range p.waiting {
		if until.IsZero() || all[0].until.Before(until) {
			first, until = key, all[0].until
		}
	}
	all := p.waiting[first]
	p.keep(first, all[1:])
	return all[0]
}

// keep makes all what waits under key. It is called with the lock held.
func (p *Pool[S]) keep(key string, all []session[S]) {
	p.count += len(all) - len(p.waiting[key])
	if len(all) == 0 {
		delete(p.waiting, key)
		return
	}
	p.waiting[key] = all
}

func (p *Pool[S]) idle() time.Duration {
	if p.Idle <= 0 {
		return time.Minute
	}
	return p.Idle
}

// watch closes what has waited for too long, and returns when nothing waits
// any more. It wakes up no more often than it must: sessions that come and go
// meanwhile do not disturb it.
func (p *Pool[S]) watch() {
	timer := time.NewTimer(p.idle())
	defer timer.Stop()
	for {
		var over []session[S]
		var next time.Time
		select {
		case <-p.Done:
			over, next = p.expired(func(session[S]) bool { return true })
		case now := <-timer.C:
			over, next = p.expired(func(s session[S]) bool { return !s.until.After(now) })
		}
		for _, s := range over {
			s.held.Close()
		}
		if next.IsZero() {
			return
		}
		timer.Reset(time.Until(next))
	}
}

// expired removes the sessions that have to go, and tells when the next one
// has to; where none waits any more it is the end of watch.
func (p *Pool[S]) expired(has func(session[S]) bool) (over []session[S], next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, all := range p.waiting {
		n := 0
		for n < len(all) && has(all[n]) {
			n++
		}
		over = append(over, all[:n]...)
		if n < len(all) && (next.IsZero() || all[n].until.Before(next)) {
			next = all[n].until
		}
		p.keep(key, all[n:])
	}
	p.watching = !next.IsZero()
	return over, next
}
