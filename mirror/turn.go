package mirror

import (
	"context"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A turn is the permission of the visits of one connection to send requests.
// After stop, the visits send no further request. A request that is under way is
// completed.
type turn struct {
	visits context.Context    // context of the visits, which contains the turn
	cancel context.CancelFunc // ends the current visit, and all later visits

	mu       sync.Mutex
	requests int  // number of requests that are under way
	stopped  bool // if true, no further request is sent
	answered bool // if true, the response to the URL of the current visit has arrived
}

// turnKey is the key of the turn in the context of a visit.
type turnKey struct{}

// begin starts a visit. It returns false if the visits were stopped.
func (t *turn) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered = false
	return !t.stopped
}

// stop ends the visit, unless a request is under way or the visit already
// processes its response.
func (t *turn) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.cancelIdle()
}

// cancelIdle cancels the visit if it was stopped, unless a request is under way
// or the response to its URL has arrived. The caller holds t.mu.
func (t *turn) cancelIdle() {
	if t.stopped && t.requests == 0 && !t.answered {
		t.cancel()
	}
}

// start registers a request. It returns false if the visit was stopped.
func (t *turn) start() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		t.cancelIdle()
		return false
	}
	t.requests++
	return true
}

// end registers the end of a request. The parameter answered reports whether
// the response to the URL of the visit has arrived.
func (t *turn) end(answered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests--
	t.answered = t.answered || answered
	t.cancelIdle()
}

// errHostChanged means that a visit was stopped, because the settings of its
// host have changed. Its item remains pending.
var errHostChanged = fetch.Canceled.Errorf("the settings of the host have changed")

// takeTurn is a middleware that sends a request only if its visit was not
// stopped. It is called for each attempt, after all pauses.
func (c *crawl) takeTurn(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		t, ok := ctx.Value(turnKey{}).(*turn)
		if !ok {
			return next.Do(ctx, req)
		}
		if !t.start() {
			return nil, errHostChanged
		}
		resp, err := next.Do(ctx, req)
		t.end(err == nil && req.Trace != nil) // a request for the rules of robots.txt has no Trace
		return resp, err
	})
}
