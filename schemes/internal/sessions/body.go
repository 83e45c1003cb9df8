package sessions

import (
	"io"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// A PlainBody is a response body that does not belong to a [Pool]. A failed
// connection is reported as a truncated body.
type PlainBody struct {
	Reader io.Reader

	close  func()
	closed atomic.Bool
}

// NewBody returns a body that reads from r. The function close, which may be
// nil, is called once by Close.
func NewBody(r io.Reader, close func()) *PlainBody { return &PlainBody{Reader: r, close: close} }

// Read reads from Reader. It returns an error after Close.
func (b *PlainBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, fetch.Usage.Errorf("read from a closed response body")
	}
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		err = fetch.Truncated.Errorf("connection failed: %w", err)
	}
	return n, err
}

// Close may be called more than once, and concurrently with Read.
func (b *PlainBody) Close() error {
	if !b.closed.Swap(true) && b.close != nil {
		b.close()
	}
	return nil
}

// ReadPending implements Read for a reader that produces its bytes in pieces. It
// copies from pending to p. While pending is empty and err is nil, it calls the
// function fill, which sets one of them.
func ReadPending(p []byte, pending *[]byte, err *error, fill func()) (int, error) {
	for len(*pending) == 0 && *err == nil {
		fill()
	}
	if len(*pending) == 0 {
		return 0, *err
	}
	n := copy(p, *pending)
	*pending = (*pending)[n:]
	return n, nil
}
