package fetch

import (
	"io"
	"time"
)

// pace ends a body whose server sends too little. It stands innermost, so
// that what a middleware waits for on purpose does not count, and neither
// does the time that the reader takes.
type pace struct {
	io.ReadCloser
	rate    int64         // bytes a second that are enough
	waited  time.Duration // in Read, in this window
	arrived int64         // in this window
}

// window is the time over which Policy.MinRate is measured.
const window = time.Minute

func (b *pace) Read(p []byte) (int, error) {
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.waited, b.arrived = b.waited+time.Since(start), b.arrived+int64(n)
	if err != nil || b.waited < window {
		return n, err
	}
	if b.arrived < b.rate*int64(window/time.Second) {
		return n, Timeout.Errorf("stalled: %d bytes in the last %v", b.arrived, b.waited.Round(time.Second))
	}
	b.waited, b.arrived = 0, 0
	return n, nil
}
