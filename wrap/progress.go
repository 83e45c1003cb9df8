package wrap

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// State says how far a body has come.
type State uint8

const (
	Started State = iota // the response is there
	Moving               // bytes came
	Ended                // no more will come: Event.Err tells why
)

// An Event tells of one body. All events of a body have the same ID, the
// first is Started and the last Ended.
type Event struct {
	ID     uint64
	State  State
	URL    uri.URI
	Offset int64         // where in the object the body begins
	Bytes  int64         // read so far, from Offset
	Size   int64         // of the object; -1: unknown
	Time   time.Duration // since the request
	Err    error         // of Ended: nil where the body is whole
}

// interval is how often a body that moves is told of.
const interval = 100 * time.Millisecond

// Progress tells f of each body that a caller gets: at its beginning, at its
// end, and in between ten times a second at the most. It is the reader that
// calls f, so that f must be quick, and safe for use by several readers. A nil
// f hears nothing.
func Progress(f func(Event)) fetch.Middleware {
	if f == nil {
		return noMiddleware
	}
	var last atomic.Uint64
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			began := time.Now()
			resp, err := next.Do(ctx, req)
			if err != nil || req.Op != fetch.Get || resp.Fault != nil && !req.ErrorBody || !resp.Location.IsZero() && !req.NoFollow {
				return resp, err
			}
			e := Event{ID: last.Add(1), URL: req.URL, Offset: resp.Offset, Size: resp.Size, Time: time.Since(began)}
			resp.Body = reportProgress(resp, f, e, began)
			return resp, nil
		})
	}
}

// observe tells f of the body of resp. Close may come beside Read, and Ended
// is to be the last all the same.
func reportProgress(resp *fetch.Response, f func(Event), e Event, began time.Time) *observedBody {
	f(e)
	var mu sync.Mutex
	told := time.Now()
	return &observedBody{
		ReadCloser: resp.Body,
		onRead: func(total int64) {
			mu.Lock()
			defer mu.Unlock()
			if now := time.Now(); e.State != Ended && now.Sub(told) >= interval {
				told = now
				e.State, e.Bytes, e.Time = Moving, total, now.Sub(began)
				f(e)
			}
		},
		onEnd: func(total int64, err error) {
			mu.Lock()
			defer mu.Unlock()
			e.State, e.Bytes, e.Time, e.Err = Ended, total, time.Since(began), err
			f(e)
		},
	}
}
