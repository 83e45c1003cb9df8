package wrap

import (
	"bytes"
	"container/list"
	"context"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// CacheOptions limits the memory and the age of cached listings.
type CacheOptions struct {
	Listing int           // maximum size of one listing in bytes; 0 means 1 MiB
	Total   int           // maximum size of all listings in bytes; 0 means 16 MiB
	Age     time.Duration // maximum age of a cached listing; 0 means 5 minutes
}

// Cache returns a middleware that caches complete listings in memory. It is
// intended for protocols that have no caching, such as FTP and Gopher. It does
// not cache local files or responses with header fields.
//
// A cached listing is used only for requests with the same URL and the same
// source of the URL. The source is the user, or a document and the IP address
// of its server. The cache therefore does not bypass the Policy.
//
// Requests with credentials, header fields, conditions or a Range do not use
// the cache. Requests whose Trace has Sent, Received or Restart do not use it
// either. Cache reports a response from the cache to Trace.Detail.
func Cache(o CacheOptions) fetch.Middleware {
	if o.Listing == 0 {
		o.Listing = 1 << 20
	}
	if o.Total == 0 {
		o.Total = 16 << 20
	}
	if o.Age == 0 {
		o.Age = 5 * time.Minute
	}
	c := &cache{CacheOptions: o, byKey: map[cacheKey]*list.Element{}}
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			return c.do(ctx, next, req)
		})
	}
}

// A cacheKey consists of the URL of a request and the source of the URL.
type cacheKey struct {
	url   string
	typed bool
	from  string
	peer  netip.Addr
}

func keyOf(req *fetch.Request) cacheKey {
	k := cacheKey{url: req.URL.WithoutFragment().Unredacted(), typed: req.Typed()}
	if !k.typed {
		k.from, k.peer = req.From.URL.Unredacted(), req.From.Peer
	}
	return k
}

// A listing is a cached Response with its complete body.
type listing struct {
	key  cacheKey
	resp fetch.Response
	body []byte
	at   time.Time
}

type cache struct {
	CacheOptions
	mu    sync.Mutex
	byKey map[cacheKey]*list.Element
	lru   list.List // contains *listing values, the most recently used first
	size  int
}

func (c *cache) do(ctx context.Context, next fetch.Driver, req *fetch.Request) (*fetch.Response, error) {
	if !isCacheable(req) {
		return next.Do(ctx, req)
	}
	k := keyOf(req)
	if resp := c.get(ctx, k, req.Trace); resp != nil {
		return resp, nil
	}
	resp, err := next.Do(ctx, req)
	if err != nil || !isListing(resp) || resp.Size > int64(c.Listing) {
		return resp, err
	}
	copied := &copyingBody{ReadCloser: resp.Body, limit: c.Listing}
	found := &listing{key: k, resp: *resp, at: time.Now()}
	found.resp.Body = nil
	resp.Body = &observedBody{ReadCloser: copied, onEnd: func(_ int64, err error) {
		if err == nil && !copied.tooLarge {
			found.body = copied.text
			c.put(found)
		}
	}}
	return resp, nil
}

func isCacheable(req *fetch.Request) bool {
	_, user := req.URL.Userinfo()
	return req.Op == fetch.Get && !req.Scheme().Traits.Files && !user && req.Auth == nil &&
		req.Range.IsZero() && req.IfSame == "" && req.IfNot == "" && req.Since.IsZero() && req.Before.IsZero() &&
		len(req.Header) == 0 && req.Outgoing == nil && !isRecorded(req.Trace)
}

func isRecorded(t *trace.Trace) bool {
	return t != nil && (t.Sent != nil || t.Received != nil || t.Restart != nil)
}

func isListing(resp *fetch.Response) bool {
	return resp.Kind == fetch.Menu && resp.Fault == nil && resp.Location.IsZero() && !resp.Unchanged &&
		resp.Doubt == "" && resp.Input == nil && len(resp.Header) == 0 && resp.Offset == 0
}

func (c *cache) get(ctx context.Context, k cacheKey, t *trace.Trace) *fetch.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil
	}
	l := e.Value.(*listing)
	age := time.Since(l.at)
	if age > c.Age {
		c.remove(e)
		return nil
	}
	t.Detailf("cached listing, %v old", age.Round(time.Second))
	c.lru.MoveToFront(e)
	resp := l.resp
	resp.Body = &cachedBody{text: bytes.NewReader(l.body), ctx: ctx}
	return &resp
}

func (c *cache) put(l *listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[l.key]; ok {
		c.remove(e)
	}
	c.byKey[l.key] = c.lru.PushFront(l)
	for c.size += l.weight(); c.size > c.Total; {
		c.remove(c.lru.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	l := c.lru.Remove(e).(*listing)
	delete(c.byKey, l.key)
	c.size -= l.weight()
}

// weight returns the approximate size of a listing in memory, in bytes.
func (l *listing) weight() int {
	return len(l.body) + len(l.key.url) + len(l.key.from) + len(l.resp.Head) + 1<<10
}

// A copyingBody is a response body that keeps a copy of up to limit bytes.
type copyingBody struct {
	io.ReadCloser
	limit    int
	text     []byte
	tooLarge bool
}

func (b *copyingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.tooLarge = b.tooLarge || len(b.text)+n > b.limit; b.tooLarge {
		b.text = nil
		return n, err
	}
	b.text = append(b.text, p[:n]...)
	return n, err
}

// A cachedBody is the body of a response from the cache.
type cachedBody struct {
	text   *bytes.Reader
	ctx    context.Context // of the request
	closed atomic.Bool
}

func (b *cachedBody) Read(p []byte) (int, error) {
	switch {
	case b.ctx.Err() != nil:
		return 0, context.Cause(b.ctx)
	case b.closed.Load():
		return 0, errClosedEarly
	}
	return b.text.Read(p)
}

func (b *cachedBody) Close() error {
	b.closed.Store(true)
	return nil
}
