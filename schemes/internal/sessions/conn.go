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
	"github.com/anyurl/fetch/fetch/trace"
)

// A Conn is the network connection of a [Session]. A driver embeds *Conn in its
// session type, which then implements Session.
type Conn struct {
	NetConn net.Conn             // network connection, for deadlines and addresses
	Stream  net.Conn             // NetConn, or a TLS or compression layer on top of it
	TLS     *tls.ConnectionState // nil for a plaintext connection

	goodbye  string
	buffered func() int // see RequireQuiet

	mu     sync.Mutex
	trace  *trace.Trace // Trace of the current request, or nil
	reused atomic.Bool  // if true, Claim was called and the server has not answered since
	broken atomic.Bool
}

// NewConn returns a Conn for netConn, which must come from [fetch.Net]. The
// Conn reports its traffic to t, which may be nil. Close sends the command
// goodbye before it closes the connection.
func NewConn(netConn net.Conn, t *trace.Trace, goodbye string) *Conn {
	return &Conn{NetConn: netConn, Stream: netConn, trace: t, goodbye: goodbye}
}

// Trace returns the [trace.Trace] of the current request, or nil.
func (c *Conn) Trace() *trace.Trace {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trace
}

// setTrace sets the Trace to which c reports its traffic. The Trace may be nil.
// After setTrace returns, the functions of the previous Trace are no longer
// called.
func (c *Conn) setTrace(t *trace.Trace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace = t
}

// Read reads from Stream and reports the received bytes to the Trace.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Stream.Read(p)
	c.ReportRead(p[:n])
	return n, err
}

// ReportRead reports p to the Trace as received bytes.
func (c *Conn) ReportRead(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trace; t != nil && t.Received != nil && len(p) > 0 {
		t.Received(p)
	}
}

// Send writes data to Stream. It reports masked to the Trace in place of data,
// so that the trace contains no passwords or other secrets.
func (c *Conn) Send(data, masked []byte) error {
	c.reportSent(masked)
	c.NetConn.SetWriteDeadline(time.Now().Add(ReplyTimeout))
	_, err := c.Stream.Write(data)
	return err
}

func (c *Conn) reportSent(shown []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trace; t != nil && t.Sent != nil && len(shown) > 0 {
		t.Sent(shown)
	}
}

// SetReplyTimeout sets the read deadline to the current time plus limit. If
// limit is zero, it removes the deadline. Drivers remove the deadline before a
// body, because the Client limits the time of bodies.
func (c *Conn) SetReplyTimeout(limit time.Duration) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	c.NetConn.SetReadDeadline(until)
}

// Encrypt performs a TLS handshake for the given host, like [fetch.Handshake].
// It then sets Stream to the TLS connection.
//
// The argument buffered is the number of bytes that were received but not yet
// used. If buffered is not zero, Encrypt returns an error, because the server
// sent these bytes in plaintext.
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

// RequireQuiet means that the server sends nothing on an idle connection. The
// function buffered returns the number of received bytes that were not used yet.
// A session with such bytes is not reused, because they would be taken for the
// response to the next request.
func (c *Conn) RequireQuiet(buffered func() int) { c.buffered = buffered }

func (c *Conn) conn() *Conn { return c }

func (c *Conn) permits(ctx context.Context, n fetch.Net) bool { return n.Permits(ctx, c.NetConn) }

// Permits returns the function for the field Permits of a [Pool] whose sessions
// embed *Conn. It calls the method Permits of n.
func Permits[S interface {
	permits(context.Context, fetch.Net) bool
}](n fetch.Net) func(context.Context, S) bool {
	return func(ctx context.Context, s S) bool { return s.permits(ctx, n) }
}

// Break marks the connection as unusable for further requests.
func (c *Conn) Break() { c.broken.Store(true) }

// IsBroken reports whether Break has been called.
func (c *Conn) IsBroken() bool { return c.broken.Load() }

// MarkAnswered records that the server has answered the current request. A
// later failure is then not retried on another session.
func (c *Conn) MarkAnswered() { c.reused.Store(false) }

// IsReused reports whether the connection has served an earlier request and has
// received no answer to the current request.
func (c *Conn) IsReused() bool { return c.reused.Load() }

// Claim implements [Session].
func (c *Conn) Claim(t *trace.Trace) bool {
	c.setTrace(t)
	c.reused.Store(true)
	return c.buffered == nil || c.buffered() == 0 && fetch.IsQuiet(c.Stream)
}

// Release implements [Session].
func (c *Conn) Release() bool {
	c.setTrace(nil)
	if c.buffered == nil || c.IsBroken() {
		return !c.IsBroken()
	}
	c.SetReplyTimeout(0)
	return c.buffered() == 0
}

// Stale implements [Session].
func (c *Conn) Stale() bool { return c.IsReused() && c.IsBroken() }

// Close closes the connection. If the connection is not broken, Close first
// sends the goodbye command.
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
