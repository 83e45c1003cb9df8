package fetch

import (
	"io"
	"time"
)

// pace ends a body whose server sends too little. It stands innermost, so
// that what a middleware waits for on purpose does not count, and neither
// does the time that the reader takes.
type rateBody struct {
	io.ReadCloser
	rate     int64         // bytes a second that are enough
	waited   time.Duration // in Read, in this window
	received int64         // in this window
}

// window is the time over which Policy.MinRate is measured.
const window = time.Minute

func (b *rateBody) Read(p []byte) (int, error) {
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.waited, b.received = b.waited+time.Since(start), b.received+int64(n)
	if err != nil || b.waited < window {
		return n, err
	}
	if b.received < b.rate*int64(window/time.Second) {
		return n, Timeout.Errorf("stalled: %d bytes in the last %v", b.received, b.waited.Round(time.Second))
	}
	b.waited, b.received = 0, 0
	return n, nil
}
