package fetch

import (
	"io"
	"time"

	"github.com/anyurl/fetch/internal/splice"
)

// rateBody is a Body whose Read fails if the server sends too slowly. It wraps
// the body of the driver directly, so that pauses of middlewares and of the
// caller do not count.
type rateBody struct {
	io.ReadCloser
	rate     int64         // minimum rate in bytes per second
	window   time.Duration // period over which the rate is measured
	waited   time.Duration // time spent in Read in the current window
	received int64         // bytes received in the current window
}

func (b *rateBody) Read(p []byte) (int, error) {
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	return b.count(start, n, err)
}

// CanReadPipe implements splice.Source.
func (b *rateBody) CanReadPipe() bool { return splice.CanRead(b.ReadCloser) }

// ReadPipe implements splice.Source.
func (b *rateBody) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	start := time.Now()
	n, err := splice.Read(b.ReadCloser, p, limit)
	return b.count(start, n, err)
}

// count adds the duration and the bytes of a Read to the window. It returns the
// results of Read, or an error if the rate is too low.
func (b *rateBody) count(start time.Time, n int, err error) (int, error) {
	b.waited, b.received = b.waited+time.Since(start), b.received+int64(n)
	if err != nil || b.waited < b.window {
		return n, err
	}
	if float64(b.received) < float64(b.rate)*b.window.Seconds() {
		return n, Timeout.Errorf("stalled: %d bytes in the last %v", b.received, b.waited.Round(time.Second))
	}
	b.waited, b.received = 0, 0
	return n, nil
}
