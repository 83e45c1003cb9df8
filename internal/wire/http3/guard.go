package http3

import (
	"io"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// Package quic stores each STREAM frame until its data is read, and limits only
// the data. Besides a copy of its data, a frame takes frameSize bytes. If the data
// has minPooled bytes or more, the copy takes bufferedSize bytes. Frames of one
// byte therefore take 160 times the window that they fill.
const (
	frameSize    = 160
	minPooled    = 128
	bufferedSize = 1536
)

// streamSize is the memory of the stream of a canceled request. Package quic keeps
// the stream until the server confirms its end.
const streamSize = 2 << 10

// Limits for the memory of the stored frames and of the canceled requests of a
// connection. If all packets have the minimum size, the full windows of
// message.MaxRequests requests take 47 MiB.
const (
	maxStored = 64 << 20
	maxEnded  = 16 << 20 // of requests that have ended
)

// blockSize is the number of bytes of a stream whose frames are counted together. A
// block counts completely until all of its frames are read.
const blockSize = 4 << 10

// maxRead is the maximum size of a Read of a guardedStream, because what a Read has
// removed counts until it returns.
const maxRead = 64 << 10

// A bufferGuard limits the memory of the frames and of the canceled requests that
// package quic stores for a connection. It receives the frames as a trace of package quic.
type bufferGuard struct {
	exceeded func() // called if maxStored is exceeded, at least once

	mu      sync.Mutex
	streams map[quic.StreamID]*storedStream
	total   int64 // memory of all stored frames, and of the streams of canceled requests
	ended   int64 // the part of total whose requests have ended
}

// A storedStream contains the memory of the stored frames of a stream.
type storedStream struct {
	read   int64                 // offset of the data that is read next
	blocks map[int64]storedBlock // by (end-1)/blockSize, where end is the offset after the frame
}

// A storedBlock describes the stored frames that end in the same block.
type storedBlock struct{ size, end int64 }

func newBufferGuard(exceeded func()) *bufferGuard {
	return &bufferGuard{exceeded: exceeded, streams: map[quic.StreamID]*storedStream{}}
}

// AddProducer implements qlogwriter.Trace.
func (g *bufferGuard) AddProducer() qlogwriter.Recorder { return g }

// Close implements qlogwriter.Recorder.
func (g *bufferGuard) Close() error { return nil }

// RecordEvent counts the frames of a received packet. Their data may already be
// read. Data that was received twice counts twice until it is read.
func (g *bufferGuard) RecordEvent(e qlogwriter.Event) {
	p, ok := e.(qlog.PacketReceived)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range p.Frames {
		if f, ok := f.Frame.(*qlog.StreamFrame); ok && f.Length > 0 {
			g.store(f.StreamID, f.Offset+f.Length, storedSize(f.Length))
		}
	}
	if g.total > maxStored {
		g.exceeded()
	}
}

// storedSize returns the memory of a frame.
func storedSize(length int64) int64 {
	if length < minPooled {
		return frameSize + length
	}
	return frameSize + bufferedSize
}

// store counts a frame that ends before the offset end. The caller must hold g.mu.
func (g *bufferGuard) store(id quic.StreamID, end, size int64) {
	s := g.stream(id)
	if s == nil || end <= s.read {
		return // package quic does not store it
	}
	b := s.blocks[(end-1)/blockSize]
	s.blocks[(end-1)/blockSize] = storedBlock{b.size + size, max(b.end, end)}
	g.total += size
}

// stream returns the stored frames of a stream, or nil if its request has ended.
// The caller must hold g.mu.
func (g *bufferGuard) stream(id quic.StreamID) *storedStream {
	s := g.streams[id]
	if s == nil && id%2 == 1 { // a stream of the server (RFC 9000 section 2.1)
		s = &storedStream{blocks: map[int64]storedBlock{}}
		g.streams[id] = s
	}
	return s
}

// start must be called for each stream of a request.
func (g *bufferGuard) start(id quic.StreamID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.streams[id] = &storedStream{blocks: map[int64]storedBlock{}}
}

// read counts n bytes that were read from a stream.
func (g *bufferGuard) read(id quic.StreamID, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stream(id)
	if s == nil {
		return
	}
	k := s.read / blockSize
	for s.read += int64(n); k*blockSize < s.read; k++ {
		if b := s.blocks[k]; b.end <= s.read {
			delete(s.blocks, k)
			g.total -= b.size
		}
	}
}

// end must be called when the stream of a request is complete or canceled. The
// stream of a canceled request and its unread frames still count, because package
// quic keeps them until the server confirms the end of the stream. Package quic does
// not store later frames.
func (g *bufferGuard) end(id quic.StreamID, complete bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.streams[id].blocks {
		g.ended += b.size
	}
	if !complete {
		g.total, g.ended = g.total+streamSize, g.ended+streamSize
	}
	delete(g.streams, id)
}

// full reports whether the requests that have ended take so much memory that the
// connection must not be used for another request.
func (g *bufferGuard) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended > maxEnded
}

// A guardedStream reports to a bufferGuard what is read from a stream.
type guardedStream struct {
	io.Reader
	id    quic.StreamID
	guard *bufferGuard
}

func (s guardedStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p[:min(len(p), maxRead)])
	s.guard.read(s.id, n)
	return n, err
}
