package sessions

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A Conn is the connection of a session. Drivers embed it in their session,
// which is then a [Session].
type Conn struct {
	NetConn net.Conn             // the connection of the Net, for deadlines and addresses
	Stream  net.Conn             // Door, or a layer over it: TLS, compression
	TLS     *tls.ConnectionState // nil: plaintext

	goodbye string

	mu     sync.Mutex
	trace  *fetch.Trace // of the request
	reused atomic.Bool  // claimed, and no answer yet
	broken atomic.Bool
}

// NewConn returns a Conn over a connection of the Net, for a request that
// reports to t. Close sends goodbye.
func NewConn(netConn net.Conn, t *fetch.Trace, goodbye string) *Conn {
	return &Conn{NetConn: netConn, Stream: netConn, trace: t, goodbye: goodbye}
}

// Trace returns the Trace of the request, or nil.
func (c *Conn) Trace() *fetch.Trace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trace
}

// setTrace has c report to t, which may be nil. When it returns no call of the
// former Trace by Read or Send is under way.
func (c *Conn) setTrace(t *fetch.Trace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace = t
}

// Read reads Wire and reports the bytes to the Trace.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	c.ReportRead(p[:n])
	return n, err
}

// Got reports bytes that were read to the Trace.
func (c *Conn) ReportRead(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trace; t != nil && t.Received != nil && len(p) > 0 {
		t.Received(p)
	}
}

// Send writes out to Wire and reports shown to the Trace. Shown is out with
// its secrets masked.
func (c *Conn) Send(out, shown []byte) error {
	c.reportSent(shown)
	c.NetConn.SetWriteDeadline(time.Now().Add(ReplyTimeout))
	_, err := c.Stream.Write(out)
	return err
}

func (c *Conn) reportSent(shown []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trace; t != nil && t.Sent != nil && len(shown) > 0 {
		t.Sent(shown)
	}
}

// Await limits the time of the reads that follow; 0 is no limit. The Client
// limits the time of bodies.
func (c *Conn) SetReplyTimeout(limit time.Duration) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	c.NetConn.SetReadDeadline(until)
}

// Encrypt upgrades Wire to TLS with host, as [fetch.Handshake] does. Buffered
// is the number of bytes that the reader of c has read ahead of the upgrade.
// Encrypt rejects them, because they were sent in plaintext.
func (c *Conn) Encrypt(ctx context.Context, config *tls.Config, host string, buffered int) error {
	if buffered > 0 {
		c.Break()
		return fetch.TLS.Errorf("server sent plaintext after agreeing to TLS")
	}
	c.NetConn.SetDeadline(time.Time{})
	secure, err := fetch.Handshake(ctx, c.NetConn, config, host, c.Trace())
	if err != nil {
		c.Break()
		return err
	}
	state := secure.ConnectionState()
	c.Stream, c.TLS = secure, &state
	return nil
}

// Break records that c is dead or out of step: no further request may use it.
func (c *Conn) Break() { c.broken.Store(true) }

// IsBroken reports whether Break was called.
func (c *Conn) IsBroken() bool { return c.broken.Load() }

// Answered records that the server has answered the request, so that the
// session is not stale.
func (c *Conn) MarkAnswered() { c.reused.Store(false) }

// IsReused reports whether an earlier request used c and the server has not
// answered this one yet.
func (c *Conn) IsReused() bool { return c.reused.Load() }

// Claim implements [Session].
func (c *Conn) Claim(t *fetch.Trace) bool {
	c.setTrace(t)
	c.reused.Store(true)
	return true
}

// Release implements [Session].
func (c *Conn) Release() bool {
	c.setTrace(nil)
	return !c.IsBroken()
}

// Stale implements [Session].
func (c *Conn) Stale() bool { return c.IsReused() && c.IsBroken() }

// Close sends the goodbye, unless c is broken, and closes the connection.
func (c *Conn) Close() error {
	if !c.broken.Swap(true) && c.goodbye != "" {
		c.NetConn.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(c.Stream, c.goodbye)
	}
	return c.NetConn.Close()
}

// Abort implements [Session].
func (c *Conn) Abort() {
	c.Break()
	c.NetConn.Close()
	c.setTrace(nil)
}
