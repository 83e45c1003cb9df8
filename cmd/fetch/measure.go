package main

import (
	"crypto/sha256"
	"hash"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// measure is what a job learns of its transfer besides the body: for -w and
// --meta; a nil one learns nothing. Its hooks may be called by the goroutines
// of a transport.
type measure struct {
	start time.Time

	mu     sync.Mutex
	phases map[fetch.Phase]time.Duration // since start, of the last connection
	conns  int
	local  netip.AddrPort
	remote netip.AddrPort
	sent   int64
	got    int64
	wire   hash.Hash // of what was got; nil: not wanted
	notes  []string

	end  time.Duration
	size int64 // of the body, as it was brought
}

func newMeasure(digests bool) *measure {
	m := &measure{start: time.Now(), phases: map[fetch.Phase]time.Duration{}}
	if digests {
		m.wire = sha256.New()
	}
	return m
}

// listen returns a Trace of the hooks of m, which say what say would.
func (m *measure) listen(say *fetch.Trace) *fetch.Trace {
	if m == nil {
		return say
	}
	t := &fetch.Trace{Note: m.noting(say.Note), Detail: m.noting(say.Detail), Phase: m.mark}
	if m.wire == nil {
		return t // a tapped exchange has no HTTP/2
	}
	t.Sent = func(p []byte) { m.mu.Lock(); m.sent += int64(len(p)); m.mu.Unlock() }
	t.Received = func(p []byte) { m.mu.Lock(); m.got += int64(len(p)); m.wire.Write(p); m.mu.Unlock() }
	t.Restart = func() { m.mu.Lock(); m.sent, m.got = 0, 0; m.wire.Reset(); m.mu.Unlock() }
	return t
}

// noting keeps what say is told.
func (m *measure) noting(say func(string)) func(string) {
	return func(text string) {
		m.mu.Lock()
		m.notes = append(m.notes, text)
		m.mu.Unlock()
		if say != nil {
			say(text)
		}
	}
}

func (m *measure) mark(p fetch.Phase, c net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases[p] = time.Since(m.start)
	if p == fetch.Connected && c != nil {
		m.conns++
		m.local, _ = netip.ParseAddrPort(c.LocalAddr().String())
		m.remote, _ = netip.ParseAddrPort(c.RemoteAddr().String())
	}
}

// stop is the end of the transfer.
func (m *measure) stop() {
	if m != nil {
		m.end = time.Since(m.start)
	}
}

// of returns body, counted on its way.
func (m *measure) of(body io.ReadCloser) io.ReadCloser {
	if m == nil {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, m), body}
}

// Write counts the body on its way.
func (m *measure) Write(p []byte) (int, error) {
	if m.size == 0 && len(p) > 0 {
		m.mark(fetch.FirstByte, nil)
	}
	m.size += int64(len(p))
	return len(p), nil
}

func (m *measure) at(p fetch.Phase) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phases[p]
}
