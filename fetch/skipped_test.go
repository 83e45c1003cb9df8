package fetch

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A skippingBody discards n bytes after each delay, steps times, and returns a
// byte afterwards, all in one Read.
type skippingBody struct {
	pacedBody
	steps   int
	delay   time.Duration
	skipped atomic.Int64
}

func (b *skippingBody) Skipped() int64 { return b.skipped.Load() }

func (b *skippingBody) Read(p []byte) (int, error) {
	for ; b.steps > 0; b.steps-- {
		select {
		case <-b.closed:
			return 0, net.ErrClosed
		case <-time.After(b.delay):
			b.skipped.Add(int64(b.n))
		}
	}
	if b.n == 0 {
		return 0, io.EOF
	}
	b.n = 0
	return 1, nil
}

// TestSkippedBytes checks that the bytes that a driver discards count as
// received, also for the minimum rate.
func TestSkippedBytes(t *testing.T) {
	for _, c := range []struct {
		name     string
		n, steps int
		delay    time.Duration
		want     time.Duration // until the timeout; 0 means none
	}{
		{"steady", 1 << 20, 1000, time.Second, 0},
		{"slow, but above the minimum rate", 100_000, 20, 50 * time.Second, 0},
		{"slow drip", 1, 1000, 20 * time.Second, time.Minute},
		{"stall", 1 << 20, 1, 24 * time.Hour, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &skippingBody{pacedBody: pacedBody{n: c.n, closed: make(chan struct{})}, steps: c.steps, delay: c.delay}
			body := newRateBody(b, &Policy{})
			start := time.Now()
			n, err := body.Read(make([]byte, 10))
			took := time.Since(start)
			if stalled := FaultOf(err) == Timeout; stalled != (c.want > 0) || stalled && took > c.want+c.delay || !stalled && n != 1 {
				t.Errorf("%s: %d bytes after %v: %v", c.name, n, took, err)
			}
			body.Close()
		})
	}
}
