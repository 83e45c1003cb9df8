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
	"github.com/anyurl/fetch/internal/robots"
)

// Bounds of a robotsCache.
const (
	maxRobotsAge      = 24 * time.Hour // RFC 9309 section 2.4
	maxRobotsEntries  = 1024
	maxRobotsExchange = robots.MaxSize + 64<<10 // bytes of one exchange
	maxRobotsTotal    = 16 << 20                // bytes of all exchanges
)

// A robotsCache keeps complete responses to requests for robots.txt. The rule
// for robots.txt sends the first request for the file, and the visit that
// archives the file gets the same response.
type robotsCache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[fetch.Origin]*robotsExchange
	size    int // bytes of all entries
}

func newRobotsCache(now func() time.Time) *robotsCache {
	return &robotsCache{now: now, entries: map[fetch.Origin]*robotsExchange{}}
}

// A robotsExchange is a request for a robots.txt and its response.
type robotsExchange struct {
	started  time.Time
	response fetch.Response // without the body
	body     []byte

	mu             sync.Mutex // for the fields below, because each direction has its own goroutine
	sent, received bytes.Buffer
	tooLong        bool // the buffers are incomplete
}

// middleware answers requests for a robots.txt from the cache, and fills the
// cache with the responses of next.
func (r *robotsCache) middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		origin, ok := originOf(req.URL)
		if !ok || req.Op != fetch.Get || !req.Range.IsZero() || !isRobotsTxt(req.Scheme(), req.URL) {
			return next.Do(ctx, req)
		}
		if x := r.lookup(origin); x != nil && isOwnLink(req, origin) {
			return x.replay(req.Trace), nil
		}
		if req.Trace != nil { // a visit, whose response no other request needs
			return next.Do(ctx, req)
		}
		return r.fill(ctx, next, req, origin)
	})
}

// isOwnLink reports whether the user or a page of origin has named the URL of
// req. The Policy may deny the site to links of other sites.
func isOwnLink(req *fetch.Request, origin fetch.Origin) bool {
	if req.From == nil {
		return true
	}
	from, ok := originOf(req.From.URL)
	return ok && from == origin
}

// fill sends req through next and adds the response to the cache if it is
// complete. A temporary failure is not cached.
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
		resp.Body = io.NopCloser(strings.NewReader("")) // the rule needs only the status
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

// add adds x to the cache. It removes other entries, in random order, if the
// cache is full.
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

// lookup returns the entry of origin, or nil.
func (r *robotsCache) lookup(origin fetch.Origin) *robotsExchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.entries[origin]; x != nil && r.now().Sub(x.started) < maxRobotsAge {
		return x
	}
	r.remove(origin)
	return nil
}

// requestTime returns the time of the request for v, the visit of a robots.txt.
func (r *robotsCache) requestTime(v *visit) time.Time {
	if x := r.lookup(v.origin); x != nil {
		return x.started
	}
	return v.started
}

func (x *robotsExchange) size() int { return len(x.body) + x.sent.Len() + x.received.Len() }

// trace returns a Trace that records the exchange in x.
func (x *robotsExchange) trace() *fetch.Trace {
	return &fetch.Trace{
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

// replay passes the bytes of the exchange to t, which may be nil, and returns
// the response.
func (x *robotsExchange) replay(t *fetch.Trace) *fetch.Response {
	if t != nil && t.Sent != nil && t.Received != nil {
		t.Sent(x.sent.Bytes())
		t.Received(x.received.Bytes())
	}
	resp := x.response
	resp.Header = slices.Clone(resp.Header)
	resp.Body = io.NopCloser(bytes.NewReader(x.body))
	return &resp
}
