package wrap

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/splice"
)

// An observedBody is a response body that calls onRead after each read and
// onEnd when the body ends.
type observedBody struct {
	io.ReadCloser
	onRead func(total int64)            // called after each Read that returned bytes; may be nil
	onEnd  func(total int64, err error) // called once; err is nil if the body is complete, or errClosedEarly

	total    atomic.Int64
	ending   sync.Once
	closing  sync.Once
	closeErr error
}

// errClosedEarly reports that a body was closed before it was read to the end.
var errClosedEarly = fetch.Canceled.Errorf("closed before its end")

func (b *observedBody) Read(p []byte) (int, error) {
	return b.observe(b.ReadCloser.Read(p))
}

// CanReadPipe implements splice.Source.
func (b *observedBody) CanReadPipe() bool { return splice.CanRead(b.ReadCloser) }

// ReadPipe implements splice.Source.
func (b *observedBody) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	return b.observe(splice.Read(b.ReadCloser, p, limit))
}

// observe reports the results of a Read to onRead and onEnd, and returns the
// results.
func (b *observedBody) observe(n int, err error) (int, error) {
	total := b.total.Add(int64(n))
	if n > 0 && b.onRead != nil {
		b.onRead(total)
	}
	switch err {
	case nil:
	case io.EOF:
		b.end(nil)
	default:
		b.end(err)
	}
	return n, err
}

func (b *observedBody) Close() error {
	b.closing.Do(func() { b.closeErr = b.ReadCloser.Close() })
	b.end(errClosedEarly)
	return b.closeErr
}

func (b *observedBody) end(err error) {
	b.ending.Do(func() { b.onEnd(b.total.Load(), err) })
}
