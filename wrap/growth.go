package wrap

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/turn"
)

// A growth adapts the number of concurrent requests to an HTTP/1.1 server. While
// responses take at least farAway, the number is doubled, because most of the time
// is then spent waiting for a distant server. A number that brings too few
// additional responses per second is given up again, because the server or the
// network has reached its limit. A failure that the number of requests may have
// caused halves it. After that, the number no longer rises.
//
// Only requests to one server of a host use the additional slots.
type growth struct {
	origin  fetch.Origin // the server
	slots   slots        // additional slots; those that may not be used yet are taken
	surplus int          // number of requests in progress that are too many; the next ones that end free no slot

	borrowed int // number of requests in additional slots that free one of the other slots

	initial, limit, max int // numbers of concurrent requests; limit is the present one
	settled             bool
	previous            int     // limit before the last change
	rate                float64 // responses per second with the previous limit; 0 if unknown

	changes int           // number of times at which more or fewer requests were permitted, or few enough were in progress
	ended   int           // number of requests that have ended since the last change
	waits   time.Duration // sum of the times until the responses of the measured requests
	spent   time.Duration // sum of the times until the ends of the measured requests
}

const (
	farAway = 10 * time.Millisecond // mean response time that makes more requests useful
	minGain = 0.3                   // necessary part of the additional responses per second that more requests could bring
)

// newGrowth returns the growth for a host whose first request goes to o.
func newGrowth(o fetch.Origin, initial, limit int) growth {
	g := growth{origin: o, initial: initial, limit: initial, max: max(limit, initial)}
	g.settled = g.max == initial
	g.slots = make(slots, g.max-initial)
	g.take(g.max - initial)
	return g
}

// take takes n slots. Those in use are taken when their requests have ended.
func (g *growth) take(n int) {
	for ; n > 0; n-- {
		select {
		case g.slots <- struct{}{}:
		default:
			g.surplus++
		}
	}
}

// setLimit changes the number of concurrent requests.
func (g *growth) setLimit(n int) {
	more := n - g.limit
	g.previous, g.limit, g.ended = g.limit, n, 0
	g.changes++
	g.take(-more)
	for ; more > 0; more-- {
		<-g.slots
	}
}

// settle sets a number of concurrent requests that no longer rises.
func (g *growth) settle(n int) {
	g.setLimit(max(n, g.initial))
	g.settled = true
}

// fail records that a request has failed, which was sent after the given number of
// changes.
func (g *growth) fail(err error, changes int) {
	switch {
	case !fetch.Retryable(err) || g.surplus > 0 || changes < g.changes:
	case g.limit > g.initial:
		g.settle(g.limit / 2)
	default:
		g.ended, g.rate = 0, 0
	}
}

// free frees the slot of a request, which is one of base or one of g. While more
// requests are in progress than permitted, no slot becomes free.
func (g *growth) free(used, base slots) {
	switch {
	case g.surplus > 0:
		if used == base {
			g.borrowed++
		}
		if g.surplus--; g.surplus == 0 {
			g.changes++
		}
	case used != base && g.borrowed > 0:
		g.borrowed--
		<-base
	default:
		<-used
	}
}

// end records that a request has ended, and reports whether the number of
// concurrent requests has risen. The response came after the time wait, and the
// request ended after the time spent. The parameter users is the number of requests
// that waited or were in progress. The first requests after a change are not
// measured, because some of them opened a connection.
func (g *growth) end(wait, spent time.Duration, users int) (more bool) {
	if g.settled {
		return false
	}
	if users < g.limit { // the caller sends fewer requests
		g.ended = 0
		return false
	}
	g.ended++
	if g.ended <= g.limit {
		g.waits, g.spent = 0, 0
		return false
	}
	g.waits += wait
	g.spent += spent
	n := g.ended - g.limit
	if n < max(g.limit, 4) {
		return false
	}
	rate := float64(g.limit*n) / max(g.spent, time.Microsecond).Seconds() // Little's law
	gain := minGain * float64(g.limit-g.previous) / float64(max(g.previous, 1))
	switch {
	case g.rate > 0 && rate < g.rate*(1+gain):
		g.settle(g.previous)
	case g.limit == g.max:
		g.settled = true
	case g.waits < time.Duration(n)*farAway:
		g.ended, g.rate = 0, 0
	default:
		g.rate = rate
		g.setLimit(min(2*g.limit, g.max))
		return true
	}
	return false
}

// grow records the end of a request to a server, after which it may receive more
// concurrent requests. The response came after the time wait, and the request ended
// after the time spent.
func (p *polite) grow(ctx context.Context, h *host, o fetch.Origin, wait, spent time.Duration) {
	p.mu.Lock()
	more := o == h.growth.origin && max(h.delay, h.rule) <= 0 && h.growth.end(wait, spent, h.users)
	p.mu.Unlock()
	if more {
		turn.Of(ctx).Accepted()
	}
}

// fail records that a request to a server has failed, which was sent after the given
// number of changes. The server may then receive fewer concurrent requests.
func (p *polite) fail(h *host, o fetch.Origin, err error, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o == h.growth.origin {
		h.growth.fail(err, changes)
	}
}

// changes returns the number of changes of the concurrent requests to a host.
func (p *polite) changes(h *host) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.growth.changes
}
