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
	waiting  map[string]*queue[S]
	count    int // of all that wait
	watching bool
}

// A queue holds the sessions of one key, the oldest first. It stays when the
// last one is taken, which mostly comes back soon; the watcher removes it.
type queue[S io.Closer] []session[S]

type session[S io.Closer] struct {
	held  S
	until time.Time
}

// Get removes the session of that key which has waited for the shortest time,
// and returns false where there is none. Its peer may have closed it or sent
// something meanwhile, which fetch.Quiet reports.
func (p *Pool[S]) Get(key string) (held S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.waiting[key]
	if q == nil || len(*q) == 0 {
		return held, false
	}
	last := len(*q) - 1
	held = (*q)[last].held
	p.cut(q, last, last+1)
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
		p.waiting = map[string]*queue[S]{}
	}
	limit := p.Max
	if limit <= 0 {
		limit = 8
	}
	q := p.waiting[key]
	if q == nil {
		q = new(queue[S])
		p.waiting[key] = q
	}
	*q = append(*q, s)
	p.count++
	if n := len(*q) - limit; n > 0 {
		surplus = slices.Clone((*q)[:n])
		p.cut(q, 0, n)
	}
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
	var first *queue[S]
	for _, q := range p.waiting {
		if len(*q) > 0 && (first == nil || (*q)[0].until.Before((*first)[0].until)) {
			first = q
		}
	}
	s := (*first)[0]
	p.cut(first, 0, 1)
	return s
}

// cut removes the sessions from i up to j. It is called with the lock held.
func (p *Pool[S]) cut(q *queue[S], i, j int) {
	p.count -= j - i
	*q = slices.Delete(*q, i, j)
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
	for key, q := range p.waiting {
		n := 0
		for n < len(*q) && has((*q)[n]) {
			n++
		}
		over = append(over, (*q)[:n]...)
		if p.cut(q, 0, n); len(*q) == 0 {
			delete(p.waiting, key)
		} else if next.IsZero() || (*q)[0].until.Before(next) {
			next = (*q)[0].until
		}
	}
	p.watching = !next.IsZero()
	return over, next
}
