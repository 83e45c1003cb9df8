package ftp

import (
	"context"
	"sync"
	"time"
)

// Many servers let one address in a few times only, and tell it to whoever
// tries once more. Who has sessions there waits for one of them.

// turnTime is how long. The caller may be the one who has them.
const turnTime = time.Minute

// turns knows of each key how many sessions are in use.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	inUse, waiting int
	freed          chan struct{} // has room for one: who waits for it looks again
}

// begin counts a session of key as in use until end.
func (t *turns) begin(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]*turn{}
	}
	if t.all[key] == nil {
		t.all[key] = &turn{freed: make(chan struct{}, 1)}
	}
	t.all[key].inUse++
}

func (t *turns) end(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.all[key]
	u.inUse--
	select {
	case u.freed <- struct{}{}:
	default:
	}
	t.forget(key, u)
}

// forget is called with the lock held.
func (t *turns) forget(key string, u *turn) {
	if u.inUse+u.waiting == 0 {
		delete(t.all, key)
	}
}

// wait returns true when a session of key was given back, and false at once
// where none is in use.
func (t *turns) wait(ctx context.Context, key string) bool {
	t.mu.Lock()
	u := t.all[key]
	if u == nil || u.inUse == 0 {
		t.mu.Unlock()
		return false
	}
	u.waiting++
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		u.waiting--
		t.forget(key, u)
	}()
	timer := time.NewTimer(turnTime)
	defer timer.Stop()
	select {
	case <-u.freed:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}
