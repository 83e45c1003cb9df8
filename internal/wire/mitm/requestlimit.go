package mitm

import (
	"context"
	"net/netip"
	"sync"

	"github.com/anyurl/fetch/internal/base/connlimit"
)

// A requestLimit limits the requests that run at the same time. A request of a
// client that has too many waits without a place among those of all clients, so
// that the slow requests of one client do not stop the others.
type requestLimit struct {
	all       chan struct{} // a value for each running request
	perClient int           // maximum number of running requests of a client; 0 means no limit

	mu      sync.Mutex
	clients map[netip.Prefix]*client // clients with running or waiting requests
}

// A client is a client with running or waiting requests.
type client struct {
	running  chan struct{} // a value for each running request
	requests int
}

func newRequestLimit(all, perClient int) *requestLimit {
	return &requestLimit{all: make(chan struct{}, all), perClient: perClient, clients: map[netip.Prefix]*client{}}
}

// acquire waits until a request from the given address may run. It returns false
// if ctx ends before. The caller must call release when the request has ended.
func (l *requestLimit) acquire(ctx context.Context, address string) (release func(), ok bool) {
	leave := func() {}
	if l.perClient > 0 {
		if leave, ok = l.enter(ctx, connlimit.ClientOf(address)); !ok {
			return nil, false
		}
	}
	select {
	case l.all <- struct{}{}:
		return func() { <-l.all; leave() }, true
	case <-ctx.Done():
		leave()
		return nil, false
	}
}

// enter waits until another request of a client may run. It returns false if ctx
// ends before.
func (l *requestLimit) enter(ctx context.Context, from netip.Prefix) (leave func(), ok bool) {
	l.mu.Lock()
	c := l.clients[from]
	if c == nil {
		c = &client{running: make(chan struct{}, l.perClient)}
		l.clients[from] = c
	}
	c.requests++
	l.mu.Unlock()
	end := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.requests--; c.requests == 0 {
			delete(l.clients, from)
		}
	}
	select {
	case c.running <- struct{}{}:
		return func() { <-c.running; end() }, true
	case <-ctx.Done():
		end()
		return nil, false
	}
}
