package replay

import (
	"bytes"
	"context"
	"io"
	"net/http"
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

// maxPosted is the number of bytes of the body of a request that select a
// capture.
const maxPosted = 1 << 20

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
