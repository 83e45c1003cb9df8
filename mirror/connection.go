package mirror

import (
	"context"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// A connection visits items of a host, one at a time. After stop, and after the
// end of the run, it sends no further request. A request that is under way is
// completed.
type connection struct {
	host   *hostWorker
	visits context.Context    // context of the visits, which contains the connection
	cancel context.CancelFunc // ends the current visit, and all later visits

	mu       sync.Mutex
	requests int  // number of requests that are under way
	stopped  bool // if true, no further request is sent
	answered bool // if true, the response to the URL of the current visit has arrived
}

// connectionKey is the key of the connection in the context of a visit.
type connectionKey struct{}

// newConnection returns a connection whose visits end with those of the host.
func (h *hostWorker) newConnection() *connection {
	n := &connection{host: h}
	var ctx context.Context
	ctx, n.cancel = context.WithCancel(h.visits)
	n.visits = context.WithValue(ctx, connectionKey{}, n)
	return n
}

// visit visits the URL of one item. It returns nil if the item remains pending.
func (n *connection) visit(it frontier.Item) *visit {
	c := n.host.c
	switch {
	case !n.startVisit():
		return nil
	case n.host.lease.Control.Excluded:
		return c.newVisit(it).exclude(frontier.NoteExcludedHost)
	}
	return c.visitItem(n.visits, it)
}

// startVisit starts a visit. It returns false if the connection has ended.
func (n *connection) startVisit() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answered = false
	return !n.hasEnded()
}

// hasEnded reports whether no further request may be sent. It does not wait for
// the call of stop that follows the end of the run. The caller holds n.mu.
//
// The lease of the host can expire during the pauses of a visit. Another worker
// may then visit the host, after one more pause.
func (n *connection) hasEnded() bool { return n.stopped || n.host.c.stopped() || n.host.expired() }

// stop ends the current visit, unless a request is under way or the visit already
// processes its response.
func (n *connection) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = true
	n.cancelIdle()
}

// cancelIdle cancels the visit if the connection has ended, unless a request is
// under way or the response to its URL has arrived. The caller holds n.mu.
func (n *connection) cancelIdle() {
	if n.hasEnded() && n.requests == 0 && !n.answered {
		n.cancel()
	}
}

// startRequest registers a request. It returns false if the connection was
// stopped.
func (n *connection) startRequest() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hasEnded() {
		n.cancelIdle()
		return false
	}
	n.requests++
	return true
}

// endRequest registers the end of a request. The parameter answered reports
// whether the response to the URL of the visit has arrived.
func (n *connection) endRequest(answered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests--
	n.answered = n.answered || answered
	n.cancelIdle()
}

// errHostChanged means that a connection was stopped, because the settings of its
// host have changed. Its item remains pending.
var errHostChanged = fetch.Canceled.Errorf("the settings of the host have changed")

// registerRequests is a middleware that sends a request only if its connection
// was not stopped. It is called for each attempt, after all pauses.
func registerRequests(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		n, ok := ctx.Value(connectionKey{}).(*connection)
		if !ok {
			return next.Do(ctx, req)
		}
		if !n.startRequest() {
			return nil, errHostChanged
		}
		resp, err := next.Do(ctx, req)
		n.endRequest(err == nil && req.Trace != nil) // a request for the rules of robots.txt has no Trace
		return resp, err
	})
}
