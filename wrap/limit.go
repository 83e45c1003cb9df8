package wrap

import (
	"context"
	"io"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anyurl/fetch/fetch"
)

// Limit returns a middleware that limits the total transfer rate of all bodies
// to bytesPerSecond. Zero or less means no limit. Read waits if the rate is
// exceeded, so that TCP flow control slows down the server. The waiting time
// does not count for Policy.MinRate.
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

// noMiddleware is a middleware that adds no behavior.
func noMiddleware(next fetch.Driver) fetch.Driver { return next }

// maxBurst is the maximum number of bytes that one Read returns. If the rate
// allows fewer bytes in an eighth of a second, this smaller number is the
// limit.
const maxBurst = 4 << 20

type limited struct {
	io.ReadCloser
	bucket *rate.Limiter
	ctx    context.Context // derived from the ctx of the request; Close cancels it
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

// Close closes the body and ends a delay in a concurrent Read.
func (b *limited) Close() error {
	b.cancel()
	b.closing.Do(func() { b.closeErr = b.ReadCloser.Close() })
	return b.closeErr
}
