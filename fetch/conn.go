package fetch

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is a connection through the door: it remembers whom it reaches and on
// whose behalf, and ends a read or a write when nothing moves for too long.
type conn struct {
	net.Conn
	peer  netip.AddrPort // zero behind a proxy
	host  string         // as it was dialled
	proxy Proxy          // zero: none
	key   string         // of the grant

	quickAck    syscall.RawConn // not nil: what comes is acknowledged at once
	buffersOnly bool            // Read reads nothing: Quiet looks at what stands above

	mu    sync.Mutex
	idle  time.Duration // 0: a read or a write may wait for ever
	read  deadline
	write deadline
}

// A limit is the deadline of one direction: our caller's or that of idleness,
// the earlier one.
type deadline struct {
	requested time.Time // by our caller
	setAt     time.Time // when it was last set
}

// rearm is how much older than a read its deadline may be: setting one for
// each of many small reads would cost more than the reads.
const deadlineAge = time.Second

func (c *conn) Read(p []byte) (int, error) {
	if c.buffersOnly {
		return 0, os.ErrDeadlineExceeded
	}
	if c.quickAck != nil {
		acknowledge(c.quickAck)
	}
	c.refreshDeadline(&c.read, c.Conn.SetReadDeadline)
	return c.Conn.Read(p)
}

// Write is bounded as Read is: a peer that takes nothing is as silent as one
// that says nothing, and net/http waits for it without a time of its own.
func (c *conn) Write(p []byte) (int, error) {
	c.refreshDeadline(&c.write, c.Conn.SetWriteDeadline)
	return c.Conn.Write(p)
}

func (c *conn) refreshDeadline(l *deadline, set func(time.Time) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle > 0 && time.Since(l.setAt) >= deadlineAge {
		c.setDeadline(l, set)
	}
}

// set begins the time of l anew; c.mu is held.
func (c *conn) setDeadline(l *deadline, set func(time.Time) error) error {
	l.setAt = time.Now()
	t := l.requested
	if end := l.setAt.Add(c.idle); c.idle > 0 && (t.IsZero() || end.Before(t)) {
		t = end
	}
	return set(t)
}

// SetReadDeadline keeps the caller's deadline beside that of idleness; the
// earlier one counts.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.requested = t
	return c.setDeadline(&c.read, c.Conn.SetReadDeadline)
}

// SetWriteDeadline is SetReadDeadline for writes.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write.requested = t
	return c.setDeadline(&c.write, c.Conn.SetWriteDeadline)
}

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// CloseWrite is the half close of a session, where the connection below has
// one.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return Unsupported.Errorf("connection has no half close")
}

// connOf finds the door's connection below taps and TLS.
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

// PeerOf returns the address that c reaches, for Response.Peer: it is zero
// behind a proxy and for a connection that no Net made.
func PeerOf(c net.Conn) netip.Addr {
	if own := connOf(c); own != nil {
		return own.peer.Addr()
	}
	return netip.Addr{}
}

// SetIdle changes how long a read or a write of c may wait for a byte to
// move; zero is for ever: a session in which a person thinks.
func SetIdleTimeout(c net.Conn, d time.Duration) {
	own := connOf(c)
	if own == nil {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.idle = max(d, 0)
	own.setDeadline(&own.read, own.Conn.SetReadDeadline)
	own.setDeadline(&own.write, own.Conn.SetWriteDeadline)
}

// SetQuick has what comes on c acknowledged at once, where the system can. It
// is for servers that write an answer in pieces and, by Nagle's algorithm, keep
// the second back until the first is acknowledged: 40 ms later, elsewhere. It
// must be called before c is read from.
func SetQuickAck(c net.Conn) {
	own := connOf(c)
	if own == nil {
		return
	}
	if tcp, ok := own.Conn.(syscall.Conn); ok {
		own.quickAck, _ = tcp.SyscallConn()
	}
}
