package http

import (
	"bufio"
	"crypto/tls"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A frameGuard is an HTTP/2 connection whose Read removes frames of unknown
// types and PRIORITY frames. Package net/http would only log each of them to
// the standard logger, which a program may print. The guard also fails if the
// server sends many frames without data, because net/http has no such limit.
//
// Write combines small writes, see frameWriter.
type frameGuard struct {
	*tls.Conn
	out  *frameWriter
	r    *bufio.Reader
	left int // unread bytes of the current frame

	idle  atomic.Int64 // cost of the frames since the last data or the last request
	start time.Time    // when idle was zero
}

// These constants are from RFC 9113, sections 4.1 and 6.
const (
	frameHead    = 9
	frameData    = 0x0
	framePrio    = 0x2
	frameUnknown = 0xa // the first type that RFC 9113 does not define
	flagPadded   = 0x8
)

// A frame without data costs 1, and 1 for each KiB. A server may send frames
// of the cost maxIdleFrames in idleFrameTime. A response head may cost 1024.
const (
	maxIdleFrames = 10_000
	idleFrameTime = time.Minute
	maxSkipped    = 1 << 20 // net/http rejects longer frames
)

func newFrameGuard(c *tls.Conn) *frameGuard {
	return &frameGuard{Conn: c, out: newFrameWriter(c, c.Close), r: bufio.NewReader(c)}
}

func (g *frameGuard) Write(p []byte) (int, error) { return g.out.Write(p) }

// Close writes the remaining bytes before it closes the connection.
func (g *frameGuard) Close() error {
	g.out.close(g.SetWriteDeadline)
	return g.Conn.Close()
}

// requestSent restarts the count of frames without data. It may be called
// during a Read.
func (g *frameGuard) requestSent() { g.idle.Store(0) }

// Read reads at most one frame. If it fails because a write has failed, it
// returns the error of the write.
func (g *frameGuard) Read(p []byte) (int, error) {
	n, err := g.read(p)
	if err != nil {
		if failed := g.out.failed(); failed != nil {
			err = failed
		}
	}
	return n, err
}

func (g *frameGuard) read(p []byte) (int, error) {
	for g.left == 0 {
		if err := g.nextFrame(); err != nil {
			return 0, err
		}
	}
	n, err := g.r.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// nextFrame waits for the head of a frame. It sets g.left to the length of the
// frame, or skips the frame.
func (g *frameGuard) nextFrame() error {
	head, err := g.r.Peek(frameHead)
	if err != nil {
		return err
	}
	length, kind := int(head[0])<<16|int(head[1])<<8|int(head[2]), head[3]
	data := 0
	if kind == frameData {
		data = length
		if head[4]&flagPadded != 0 && length > 0 {
			if head, err = g.r.Peek(frameHead + 1); err != nil {
				return err
			}
			data -= 1 + int(head[frameHead])
		}
	}
	if data > 0 {
		g.idle.Store(0)
	} else if err := g.countIdle(length); err != nil {
		return err
	}
	if (kind == framePrio || kind >= frameUnknown) && length <= maxSkipped {
		_, err = g.r.Discard(frameHead + length)
		return err
	}
	g.left = frameHead + length
	return nil
}

// countIdle counts a frame without data. It returns an error if there were too
// many.
func (g *frameGuard) countIdle(length int) error {
	cost := 1 + int64(length>>10)
	idle := g.idle.Add(cost)
	if idle == cost {
		g.start = time.Now()
	}
	if idle <= maxIdleFrames {
		return nil
	}
	if time.Since(g.start) > idleFrameTime {
		g.idle.Store(0)
		return nil
	}
	return fetch.Protocol.Errorf("HTTP/2 server sent too many frames without data")
}
