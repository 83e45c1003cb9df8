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

// A Conn is the network connection of a session. Drivers embed a Conn in their
// session type to implement [Session].
type Conn struct {
	NetConn net.Conn             // network connection, for deadlines and addresses
	Stream  net.Conn             // NetConn, or a TLS or compression layer over it
	TLS     *tls.ConnectionState // nil for a plaintext connection

	goodbye string

	mu     sync.Mutex
	trace  *fetch.Trace // of the current request
	reused atomic.Bool  // the server has not answered since Claim
	broken atomic.Bool
}

// NewConn returns a Conn for a connection that [fetch.Net] has opened. It
// reports to t, which may be nil. Close sends goodbye before it closes the
// connection.
func NewConn(netConn net.Conn, t *fetch.Trace, goodbye string) *Conn {
	return &Conn{NetConn: netConn, Stream: netConn, trace: t, goodbye: goodbye}
}

// Trace returns the Trace of the current request, or nil.
func (c *Conn) Trace() *fetch.Trace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trace
}

// setTrace makes c report to t, which may be nil. After it returns, c makes no
// further calls of the former Trace.
func (c *Conn) setTrace(t *fetch.Trace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace = t
}

// Read reads from Stream and reports the bytes to the Trace.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	c.ReportRead(p[:n])
	return n, err
}

// ReportRead reports p to the Trace as bytes that were read.
func (c *Conn) ReportRead(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trace; t != nil && t.Received != nil && len(p) > 0 {
		t.Received(p)
	}
}

// Send writes out to Stream and reports shown to the Trace. The caller must
// mask the secrets in shown.
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

// SetReplyTimeout sets the deadline of subsequent reads to limit from now. Zero
// removes the deadline, for example before a body, because the Client limits
// the time of bodies.
func (c *Conn) SetReplyTimeout(limit time.Duration) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	c.NetConn.SetReadDeadline(until)
}

// Encrypt performs a TLS handshake with host over NetConn, like
// [fetch.Handshake], and replaces Stream. The argument buffered is the number
// of bytes that were read ahead. If it is not zero, Encrypt returns an error,
// because these bytes were sent in plaintext.
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

// Break marks c as unusable for further requests.
func (c *Conn) Break() { c.broken.Store(true) }

// IsBroken reports whether Break was called.
func (c *Conn) IsBroken() bool { return c.broken.Load() }

// MarkAnswered records that the server has answered the current request. The
// session is then no longer stale.
func (c *Conn) MarkAnswered() { c.reused.Store(false) }

// IsReused reports whether an earlier request used c and the server has not yet
// answered the current request.
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
