package fetch

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/anyurl/fetch/internal/wire/splice"
)

// A conn is a network connection that a dialer opened. It records the address
// of the server and the pool key of the request. A read or a write fails with a
// timeout if no byte is transferred for the idle time.
type conn struct {
	net.Conn
	peer  netip.AddrPort // zero if a proxy resolved the name, or for a Unix domain socket
	host  string         // the host that was dialed
	proxy Proxy          // zero for a direct connection
	key   string         // pool key of the request, from grant.key

	quickAck    syscall.RawConn // not nil if received data is acknowledged at once
	blocking    *blockingRead   // not nil after SetBlockingReads
	readers     *readers        // of the dialer
	probe       *probe          // used by IsQuiet; nil before the first call of IsQuiet
	buffersOnly bool            // makes Read return no data, so that IsQuiet tests only the buffers of TLS and taps

	mu    sync.Mutex
	idle  time.Duration // maximum time of a read or a write; 0 means no limit
	read  deadline
	write deadline
}

// A deadline determines the time at which reads or writes of a conn fail. This
// is the deadline that the caller set or the end of the idle time, whichever is
// earlier.
type deadline struct {
	requested time.Time // deadline that the caller set, or zero
	setAt     time.Time // start of the idle time at whose end the deadline is
	start     time.Time // start of the last read or write
}

// deadlineAge is the minimum time between two updates of the deadline of a
// connection. An update for each small read would take longer than the read.
const deadlineAge = time.Second

func (c *conn) Read(p []byte) (int, error) {
	if c.buffersOnly {
		return 0, os.ErrDeadlineExceeded
	}
	if c.quickAck != nil {
		acknowledge(c.quickAck)
	}
	c.refreshDeadline(&c.read, c.Conn.SetReadDeadline)
	for {
		n, err := c.readOnce(p)
		if n > 0 || err == nil || !c.extendDeadline(err, &c.read, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

func (c *conn) readOnce(p []byte) (int, error) {
	if c.blocking != nil {
		return c.blocking.read(c.Conn, p)
	}
	return c.Conn.Read(p)
}

// CanReadPipe implements splice.Source.
func (c *conn) CanReadPipe() bool { return splice.CanFill(c.Conn) }

// ReadPipe implements splice.Source. It has the same timeouts as Read.
func (c *conn) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	if c.quickAck != nil {
		acknowledge(c.quickAck)
	}
	c.refreshDeadline(&c.read, c.Conn.SetReadDeadline)
	for {
		n, err := p.Fill(c.Conn, limit)
		if n > 0 || err == nil || !c.extendDeadline(err, &c.read, c.Conn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write fails after the same idle time as Read, because a peer that accepts no
// data would block the writer forever. Package net/http has no such timeout.
func (c *conn) Write(p []byte) (int, error) {
	c.refreshDeadline(&c.write, c.Conn.SetWriteDeadline)
	for {
		n, err := c.Conn.Write(p)
		if n > 0 || err == nil || !c.extendDeadline(err, &c.write, c.Conn.SetWriteDeadline) {
			return n, err
		}
	}
}

func (c *conn) refreshDeadline(l *deadline, set func(time.Time) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == 0 {
		return
	}
	if l.start = time.Now(); l.start.Sub(l.setAt) >= deadlineAge {
		c.setDeadline(l, l.start, set)
	}
}

// extendDeadline reports whether a read or write that failed with err must be
// repeated, because its deadline was older than its start. It sets the deadline
// to the end of the idle time.
func (c *conn) extendDeadline(err error, l *deadline, set func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	expired := !l.requested.IsZero() && !now.Before(l.requested)
	return c.idle > 0 && !expired && now.Before(l.start.Add(c.idle)) && c.setDeadline(l, l.start, set) == nil
}

// setDeadline starts the idle time for reads or writes, whose deadline is l, at
// the given time. The parameter set is SetReadDeadline or SetWriteDeadline of
// the underlying connection. The caller must hold c.mu.
func (c *conn) setDeadline(l *deadline, start time.Time, set func(time.Time) error) error {
	l.setAt = start
	t := l.requested
	if end := l.setAt.Add(c.idle); c.idle > 0 && (t.IsZero() || end.Before(t)) {
		t = end
	}
	return set(t)
}

// SetReadDeadline sets the deadline for reads. The idle timeout still applies.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.requested = t
	return c.setDeadline(&c.read, time.Now(), c.Conn.SetReadDeadline)
}

// SetWriteDeadline sets the deadline for writes. The idle timeout still
// applies.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write.requested = t
	return c.setDeadline(&c.write, time.Now(), c.Conn.SetWriteDeadline)
}

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// CloseWrite closes the connection for writing. It returns an error if the
// underlying connection does not support this.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return Unsupported.Errorf("connection has no half close")
}

// connOf returns the conn that a TLS connection or a tap wraps, or nil if there
// is none.
func connOf(c net.Conn) *conn {
	for c != nil {
		if own, ok := c.(*conn); ok {
			return own
		}
		below, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = below.NetConn()
	}
	return nil
}

// PeerOf returns the IP address of the server at the other end of c, for
// Response.Peer. It returns the zero Addr if a proxy resolved the name of the
// server, if c uses a Unix domain socket, or if c was not opened by a Net.
func PeerOf(c net.Conn) netip.Addr {
	if own := connOf(c); own != nil {
		return own.peer.Addr()
	}
	return netip.Addr{}
}

// SetIdleTimeout sets the maximum time that a read or a write of c waits for
// the next byte. Zero means no limit, which suits interactive sessions.
// SetIdleTimeout has no effect if c was not opened by a Net.
func SetIdleTimeout(c net.Conn, d time.Duration) {
	own := connOf(c)
	if own == nil {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.idle = max(d, 0)
	own.setDeadline(&own.read, time.Now(), own.Conn.SetReadDeadline)
	own.setDeadline(&own.write, time.Now(), own.Conn.SetWriteDeadline)
}

// SetQuickAck disables delayed acknowledgments for c, if the system supports
// it. It speeds up responses that a server sends in several small writes. By
// Nagle's algorithm, each write waits for the acknowledgment of the previous
// write, usually for 40 ms. SetQuickAck must be called before the first read.
// It has no effect if c was not opened by a Net.
func SetQuickAck(c net.Conn) {
	own := connOf(c)
	if own == nil {
		return
	}
	if tcp, ok := own.Conn.(syscall.Conn); ok {
		own.quickAck, _ = tcp.SyscallConn()
	}
}
