package fetch

import (
	"io"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/wire/splice"
)

// rateBody is a Body whose Read fails if the server sends too slowly. It wraps
// the body of the driver directly, so that pauses of middlewares and of the
// caller do not count.
//
// A timer ends a Read without bytes, because the Read of a driver may never
// return. A server of a multiplexed protocol can keep its connection busy
// without sending a byte of the body.
type rateBody struct {
	io.ReadCloser
	rate   int64         // minimum rate in bytes per second; 0 means no minimum
	window time.Duration // period over which the rate is measured, and maximum time without a byte

	mu       sync.Mutex
	timer    *time.Timer   // nil before the first Read
	armed    bool          // the timer will call check
	reading  time.Time     // start of the current Read; zero outside of Read
	silence  time.Duration // time spent in Read since the last byte, without the current Read
	waited   time.Duration // time spent in Read in the current window, without the current Read
	received int64         // bytes received in the current window
	skipped  int64         // bytes that the driver had discarded at the last check
	err      error         // set when check closed the body

	closing  sync.Once
	closeErr error
}

// A skipper is a body that discards bytes before those that Read returns, such as
// those before a range. Skipped returns their number so far. It may be called
// during a Read.
type skipper interface{ Skipped() int64 }

// newRateBody returns body with the limits of p, or body itself if p has no
// such limits.
func newRateBody(body io.ReadCloser, p *Policy) io.ReadCloser {
	if p.minRate() == 0 && p.idleTime() == 0 {
		return body
	}
	return &rateBody{ReadCloser: body, rate: p.minRate(), window: p.rateWindow()}
}

func (b *rateBody) Read(p []byte) (int, error) {
	b.startRead()
	return b.endRead(b.ReadCloser.Read(p))
}

// CanReadPipe implements splice.Source.
func (b *rateBody) CanReadPipe() bool { return splice.CanRead(b.ReadCloser) }

// ReadPipe implements splice.Source.
func (b *rateBody) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	b.startRead()
	return b.endRead(splice.Read(b.ReadCloser, p, limit))
}

func (b *rateBody) startRead() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = time.Now()
	if !b.armed && b.err == nil {
		b.arm(b.window - b.silence)
	}
}

// endRead adds the duration and the bytes of a Read to the window. It returns
// the results of Read, or an error if the server sends too slowly.
func (b *rateBody) endRead(n int, err error) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.countSkipped()
	took := time.Since(b.reading)
	b.waited, b.silence, b.received = b.waited+took, b.silence+took, b.received+int64(n)
	b.reading = time.Time{}
	if n > 0 {
		b.silence = 0
	}
	switch {
	case b.err != nil: // io.EOF would be a consequence of Close
		err = b.err
	case err == io.EOF:
		b.disarm()
	case err == nil && b.waited >= b.window:
		err = b.endWindow()
	}
	return n, err
}

// countSkipped counts the bytes that the driver has discarded as received. The
// caller must hold b.mu.
func (b *rateBody) countSkipped() {
	s, ok := b.ReadCloser.(skipper)
	if !ok {
		return
	}
	total := s.Skipped()
	if total == b.skipped {
		return
	}
	took := time.Since(b.reading)
	b.received, b.skipped = b.received+total-b.skipped, total
	b.waited, b.silence, b.reading = b.waited+took, 0, time.Now()
}

// endWindow starts the next window. It returns an error if the rate was too low
// in the last one. The caller must hold b.mu.
func (b *rateBody) endWindow() error {
	waited, received := b.waited, b.received
	b.waited, b.received = 0, 0
	if received == 0 || float64(received) < float64(b.rate)*b.window.Seconds() {
		return Timeout.Errorf("stalled: %d bytes in the last %v", received, waited.Round(time.Second))
	}
	return nil
}

// check runs when the timer fires. If the server has sent no byte for too long,
// check closes the body, which interrupts the current Read.
func (b *rateBody) check() {
	b.mu.Lock()
	b.armed = false
	if b.reading.IsZero() || b.err != nil {
		b.mu.Unlock()
		return
	}
	b.countSkipped()
	if b.waited >= b.window {
		b.err = b.endWindow()
	}
	silence := b.silence + time.Since(b.reading)
	if b.err == nil && silence < b.window {
		b.arm(b.window - silence)
		b.mu.Unlock()
		return
	}
	if b.err == nil {
		b.err = Timeout.Errorf("stalled: no byte in the last %v", silence.Round(time.Second))
	}
	b.mu.Unlock()
	b.Close()
}

// arm makes the timer call check after d. The timer continues between two
// Reads, because stopping it for each Read would take longer than a short Read.
// The caller must hold b.mu.
func (b *rateBody) arm(d time.Duration) {
	b.armed = true
	if b.timer == nil {
		b.timer = time.AfterFunc(d, b.check)
		return
	}
	b.timer.Reset(d)
}

// disarm stops the timer. The caller must hold b.mu.
func (b *rateBody) disarm() {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.armed = false
}

// Close closes the body of the driver once.
func (b *rateBody) Close() error {
	b.mu.Lock()
	b.disarm()
	b.mu.Unlock()
	b.closing.Do(func() { b.closeErr = b.ReadCloser.Close() })
	return b.closeErr
}
