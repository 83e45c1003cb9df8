package mirror

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/uri"
)

// Limits of a robotsCache for the age, the number and the size of its entries.
const (
	maxRobotsAge      = 24 * time.Hour // RFC 9309 section 2.4
	maxRobotsEntries  = 1024
	maxRobotsExchange = robots.MaxSize + 64<<10 // bytes of one exchange
	maxRobotsTotal    = 16 << 20                // bytes of all exchanges
)

// A robotsCache stores responses to requests for robots.txt. The first request
// checks the rules of a site, and the later visit of robots.txt archives the
// file. The cache returns the same response for both.
type robotsCache struct {
	now func() time.Time

	// stored returns the response that an earlier run has archived, or nil.
	stored func(ctx context.Context, u uri.URI) *robotsExchange

	mu      sync.Mutex
	entries map[fetch.Origin]*robotsExchange
	size    int // bytes of all entries
}

func newRobotsCache(now func() time.Time) *robotsCache {
	return &robotsCache{now: now, entries: map[fetch.Origin]*robotsExchange{}}
}

// A robotsExchange contains a request for a robots.txt file and the response.
type robotsExchange struct {
	stored   bool // if true, an earlier run has sent the request, and no bytes are recorded
	started  time.Time
	response fetch.Response // without the body
	body     []byte

	mu             sync.Mutex // protects the following fields, because each direction has a goroutine
	sent, received bytes.Buffer
	tooLong        bool // if true, the buffers are incomplete
}

// middleware returns a Driver that answers requests for robots.txt from the
// cache. It adds the responses of next to the cache.
func (r *robotsCache) middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		origin, ok := originOf(req.URL)
		if !ok || req.Op != fetch.Get || !req.Range.IsZero() || !isRobotsTxt(req.Scheme(), req.URL) {
			return next.Do(ctx, req)
		}
		x := r.lookup(origin)
		if x == nil && req.Trace == nil {
			if x = r.stored(ctx, req.URL); x != nil {
				r.add(origin, x)
			}
		}
		// A response from an earlier run is only used to check URLs against the
		// rules. It cannot be used for a visit of robots.txt, because it has no
		// recorded bytes.
		if x != nil && (x.stored && req.Trace == nil || !x.stored && isOwnLink(req, origin)) {
			return x.replay(req.Trace), nil
		}
		if req.Trace != nil { // the request archives the file, so no later request needs the response
			return next.Do(ctx, req)
		}
		return r.fill(ctx, next, req, origin)
	})
}

// isOwnLink reports whether the URL of req was entered by the user or linked by
// a page of origin. For links from other sites, the Policy may deny the
// request.
func isOwnLink(req *fetch.Request, origin fetch.Origin) bool {
	if req.From == nil {
		return true
	}
	from, ok := originOf(req.From.URL)
	return ok && from == origin
}

// fill sends req with the driver next. It adds the response to the cache if it
// is complete and not a temporary failure.
func (r *robotsCache) fill(
	ctx context.Context, next fetch.Driver, req *fetch.Request, origin fetch.Origin,
) (*fetch.Response, error) {
	x := &robotsExchange{started: r.now().UTC().Truncate(time.Microsecond)}
	traced := req.Clone()
	traced.Trace = x.trace()
	resp, err := next.Do(ctx, traced)
	if err != nil || resp.Code >= 500 || resp.Code == 429 {
		return resp, err
	}
	x.body, err = io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
	if err != nil {
		resp.Body.Close()
		if resp.Fault == nil && resp.Location.IsZero() {
			return nil, err
		}
		resp.Body = io.NopCloser(strings.NewReader("")) // the check of the rules needs only the status
		return resp, nil
	}
	if len(x.body) > robots.MaxSize {
		resp.Body = &joinedBody{io.MultiReader(bytes.NewReader(x.body), resp.Body), resp.Body}
		return resp, nil
	}
	resp.Body.Close()
	x.response = *resp
	r.add(origin, x)
	return x.replay(nil), nil
}

// A joinedBody reads from Reader and closes Closer.
type joinedBody struct {
	io.Reader
	io.Closer
}

// add adds x to the cache. If the cache is full, add first removes other
// entries in random order.
func (r *robotsCache) add(origin fetch.Origin, x *robotsExchange) {
	if x.tooLong {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(origin)
	for other := range r.entries {
		if len(r.entries) < maxRobotsEntries && r.size+x.size() <= maxRobotsTotal {
			break
		}
		r.remove(other)
	}
	r.entries[origin] = x
	r.size += x.size()
}

func (r *robotsCache) remove(origin fetch.Origin) {
	if x := r.entries[origin]; x != nil {
		r.size -= x.size()
		delete(r.entries, origin)
	}
}

// lookup returns the entry for origin, or nil if there is no entry.
func (r *robotsCache) lookup(origin fetch.Origin) *robotsExchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.entries[origin]; x != nil && r.now().Sub(x.started) < maxRobotsAge {
		return x
	}
	r.remove(origin)
	return nil
}

// requestTime returns the time of the request for the robots.txt that v visits.
func (r *robotsCache) requestTime(v *visit) time.Time {
	if x := r.lookup(v.origin); x != nil && !x.stored {
		return x.started
	}
	return v.started
}

func (x *robotsExchange) size() int { return len(x.body) + x.sent.Len() + x.received.Len() }

// trace returns a Trace that records the bytes of the exchange in x.
func (x *robotsExchange) trace() *trace.Trace {
	return &trace.Trace{
		Messages: true,
		Sent:     func(p []byte) { x.record(&x.sent, p) },
		Received: func(p []byte) { x.record(&x.received, p) },
		Restart: func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.sent.Reset()
			x.received.Reset()
			x.tooLong = false
		},
	}
}

func (x *robotsExchange) record(b *bytes.Buffer, p []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tooLong = x.tooLong || b.Len()+len(p) > maxRobotsExchange; !x.tooLong {
		b.Write(p)
	}
}

// replay passes the recorded bytes to t and returns the recorded response. The
// parameter t may be nil.
func (x *robotsExchange) replay(t *trace.Trace) *fetch.Response {
	if t != nil && t.Sent != nil && t.Received != nil {
		t.Sent(x.sent.Bytes())
		t.Received(x.received.Bytes())
	}
	resp := x.response
	resp.Header = slices.Clone(resp.Header)
	resp.Body = io.NopCloser(bytes.NewReader(x.body))
	return &resp
}
