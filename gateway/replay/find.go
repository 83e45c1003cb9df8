package replay

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// find returns the capture that answers a request. If no capture matches and
// similar is true, find returns the capture of a similar request. Of several
// captures, find selects the capture nearest to the time at. If at is zero,
// Archive.Time selects the capture. The driver of an archive has no access to a
// network.
func find(ctx context.Context, a *warc.Archive, at time.Time, similar bool, req *fetch.Request) (*fetch.Response, error) {
	source := *a // the copy shares the files
	source.Decode, source.Raw, source.Similar = true, false, similar
	if !at.IsZero() {
		source.Time, source.Until = at, at
	}
	return source.Schemes(fetch.Scheme{Name: req.URL.Scheme()})[0].Open(fetch.Env{}).Do(ctx, req)
}

// Limits for the bodies of requests, which select captures.
const (
	maxPosted = 1 << 20  // bytes of a body that are read
	maxPosts  = 16 << 20 // bytes of all bodies in memory
)

// A postBudget counts the bytes of the bodies in memory. The zero value is ready to
// use. It is safe for concurrent use.
type postBudget struct{ used atomic.Int64 }

// requestOf returns the request for the capture of u that answers r. The caller calls
// release after it has found the capture. If the bodies of other requests need too
// much memory, the error is errBusy.
func (b *postBudget) requestOf(r *http.Request, u uri.URI) (req *fetch.Request, release func(), err error) {
	size := int64(maxPosted)
	if r.ContentLength >= 0 {
		size = min(size, r.ContentLength)
	}
	release = func() { b.used.Add(-size) }
	if b.used.Add(size) > maxPosts {
		release()
		return nil, nil, errBusy
	}
	if req, err = requestOf(r, u); err != nil {
		release()
		return nil, nil, err
	}
	return req, release, nil
}

// requestOf returns the request for the capture of u that answers r.
func requestOf(r *http.Request, u uri.URI) (*fetch.Request, error) {
	req := &fetch.Request{URL: u}
	switch r.Method {
	case http.MethodGet:
		if part, ok := web.ParseRange(r.Header.Get("Range")); ok {
			req.Range = part
		}
		return req, nil
	case http.MethodHead:
		return req, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPosted))
	req.Header = fetch.Header{{Name: "Content-Type", Value: r.Header.Get("Content-Type")}}
	req.Outgoing = &outgoing.Message{
		Method: r.Method, Size: int64(len(body)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	return req, err
}
