package wrap

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A State is a stage in the transfer of a body.
type State uint8

const (
	Started State = iota // the response has arrived
	Moving               // more bytes were read
	Ended                // the body has ended; see Event.Err
)

// An Event reports the progress of one body. All events of a body have the same
// ID. The first event is Started, and the last event is Ended.
type Event struct {
	ID     uint64
	State  State
	URL    uri.URI
	Offset int64         // offset of the first byte of the body in the object
	Bytes  int64         // number of bytes of the body read so far
	Size   int64         // size of the object, or -1 if unknown
	Time   time.Duration // time since the start of the request
	Err    error         // for Ended: nil if the body is complete
}

// interval is the minimum time between two Moving events of a body.
const interval = 100 * time.Millisecond

// Progress returns a middleware that calls f when a body starts, when it ends,
// and up to ten times per second in between. If the body stalls, the bytes that
// were read before are reported within a tenth of a second. Either a timer or
// the goroutine that reads the body calls f. Therefore f must return quickly
// and be safe for concurrent use. If f is nil, no progress is reported.
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

// reportProgress returns a body that calls f while it is read. The event Ended
// is the last event, even if Close is called concurrently with Read.
func reportProgress(resp *fetch.Response, f func(Event), e Event, began time.Time) *observedBody {
	f(e)
	var mu sync.Mutex
	told, read := time.Now(), int64(0)
	moving := func(now time.Time) {
		told = now
		e.State, e.Bytes, e.Time = Moving, read, now.Sub(began)
		f(e)
	}
	stalled := time.AfterFunc(interval, func() {
		mu.Lock()
		defer mu.Unlock()
		if e.State != Ended && e.Bytes != read {
			moving(time.Now())
		}
	})
	return &observedBody{
		ReadCloser: resp.Body,
		onRead: func(total int64) {
			mu.Lock()
			defer mu.Unlock()
			read = total
			now := time.Now()
			switch {
			case e.State == Ended:
			case now.Sub(told) >= interval:
				moving(now)
			default:
				stalled.Reset(interval)
			}
		},
		onEnd: func(total int64, err error) {
			mu.Lock()
			defer mu.Unlock()
			stalled.Stop()
			e.State, e.Bytes, e.Time, e.Err = Ended, total, time.Since(began), err
			f(e)
		},
	}
}
