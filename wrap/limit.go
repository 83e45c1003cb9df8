package wrap

import (
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anyurl/fetch/fetch"
)

// Limit holds all bodies together to bytesPerSecond; 0 or less is no limit.
// What is read waits, so that the peer is slowed down by the window of TCP.
// Policy.MinRate does not count that waiting.
func Limit(bytesPerSecond int64) fetch.Middleware {
	if bytesPerSecond <= 0 {
		return noMiddleware
	}
	burst := min(max(bytesPerSecond/8, 1), maxBurst)
	bucket := rate.NewLimiter(rate.Limit(bytesPerSecond), int(burst))
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			resp, err := next.Do(ctx, req)
			if err != nil {
				return nil, err
			}
			b := &limited{ReadCloser: resp.Body, bucket: bucket}
			b.ctx, b.cancel = context.WithCancel(ctx)
			resp.Body = b
			return resp, nil
		})
	}
}

// through is the Middleware of what is not wanted.
func noMiddleware(next fetch.Driver) fetch.Driver { return next }

// maxBurst bounds what may pass at once, an eighth of a second's worth.
const maxBurst = 4 << 20

type limited struct {
	io.ReadCloser
	bucket *rate.Limiter
	ctx    context.Context // of the request; Close ends it
	cancel context.CancelFunc

	closing  sync.Once
	closeErr error
}

func (b *limited) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.bucket.Burst())])
	if n > 0 && !sleep(b.ctx, b.bucket.ReserveN(time.Now(), n).Delay()) && err == nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close ends a wait.
func (b *limited) Close() error {
	b.cancel()
	b.closing.Do(func() { b.closeErr = b.ReadCloser.Close() })
	return b.closeErr
}
