package transfer

import (
	"crypto/sha256"
	"hash"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
)

// A Measure collects times, addresses and sizes of a transfer for -w and
// --meta. The methods of a nil Measure do nothing. Several goroutines may call
// the hooks at the same time.
type Measure struct {
	start time.Time

	mu     sync.Mutex
	phases map[trace.Phase]time.Duration // time since start, for the last connection
	conns  int
	local  netip.AddrPort
	remote netip.AddrPort
	sent   int64
	got    int64
	wire   hash.Hash // digest of the received bytes, or nil
	notes  []string

	end  time.Duration
	size int64 // size of the body in bytes
}

func NewMeasure(digests bool) *Measure {
	m := &Measure{start: time.Now(), phases: map[trace.Phase]time.Duration{}}
	if digests {
		m.wire = sha256.New()
	}
	return m
}

// Trace returns a Trace that records a transfer in m. It also passes notes to
// the hooks of next.
func (m *Measure) Trace(next *trace.Trace) *trace.Trace {
	if m == nil {
		return next
	}
	t := &trace.Trace{Note: m.collectNotes(next.Note), Detail: m.collectNotes(next.Detail), Phase: m.mark}
	if m.wire == nil {
		return t // the hooks Sent and Received would disable HTTP/2
	}
	t.Sent = func(p []byte) { m.mu.Lock(); m.sent += int64(len(p)); m.mu.Unlock() }
	t.Received = func(p []byte) { m.mu.Lock(); m.got += int64(len(p)); m.wire.Write(p); m.mu.Unlock() }
	t.Restart = func() { m.mu.Lock(); m.sent, m.got = 0, 0; m.wire.Reset(); m.mu.Unlock() }
	return t
}

// collectNotes returns a function that records each note in m and then calls
// next, unless next is nil.
func (m *Measure) collectNotes(next func(string)) func(string) {
	return func(text string) {
		m.mu.Lock()
		m.notes = append(m.notes, text)
		m.mu.Unlock()
		if next != nil {
			next(text)
		}
	}
}

func (m *Measure) mark(p trace.Phase, c net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases[p] = time.Since(m.start)
	if p == trace.Connected && c != nil {
		m.conns++
		m.local, _ = netip.ParseAddrPort(c.LocalAddr().String())
		m.remote, _ = netip.ParseAddrPort(c.RemoteAddr().String())
	}
}

// Stop records the end of the transfer.
func (m *Measure) Stop() {
	if m != nil {
		m.end = time.Since(m.start)
	}
}

// Body returns a wrapper of b that counts the bytes read from it.
func (m *Measure) Body(b io.ReadCloser) io.ReadCloser {
	if m == nil {
		return b
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(b, m), b}
}

// Write counts bytes of the body.
func (m *Measure) Write(p []byte) (int, error) {
	if m.size == 0 && len(p) > 0 {
		m.mark(trace.FirstByte, nil)
	}
	m.size += int64(len(p))
	return len(p), nil
}

// phaseTime returns the time from the start of the transfer to a phase, such as
// trace.Connected.
func (m *Measure) phaseTime(p trace.Phase) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phases[p]
}
