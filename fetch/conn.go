package fetch

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// A conn is a connection of a dialer. It records its peer and its grant. A read
// or a write fails if no byte moves for the idle time.
type conn struct {
	net.Conn
	peer  netip.AddrPort // zero if the connection uses a proxy
	host  string         // the host that was dialed
	proxy Proxy          // zero for a direct connection
	key   string         // key of the grant

	quickAck    syscall.RawConn // not nil if received data is acknowledged at once
	buffersOnly bool            // Read returns no data, so that IsQuiet sees only the buffers above

	mu    sync.Mutex
	idle  time.Duration // maximum time of a read or a write; 0 means no limit
	read  deadline
	write deadline
}

// A deadline is the deadline of reads or writes. It is the earlier one of the
// deadline of the caller and the end of the idle time.
type deadline struct {
	requested time.Time // deadline of the caller
	setAt     time.Time // when the deadline of the connection was set
}

// deadlineAge is the minimum age at which a deadline is set again. Setting it
// for every small read would cost more than the reads.
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

// Write has the same idle limit as Read, because a peer that accepts no data
// would block the writer. Package net/http sets no timeout for writes.
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

// setDeadline starts the idle time again; c.mu is held.
func (c *conn) setDeadline(l *deadline, set func(time.Time) error) error {
	l.setAt = time.Now()
	t := l.requested
	if end := l.setAt.Add(c.idle); c.idle > 0 && (t.IsZero() || end.Before(t)) {
		t = end
	}
	return set(t)
}

// SetReadDeadline sets the deadline of the caller. The idle time still applies.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.requested = t
	return c.setDeadline(&c.read, c.Conn.SetReadDeadline)
}

// SetWriteDeadline sets the deadline of the caller. The idle time still
// applies.
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

// CloseWrite closes the sending side, if the underlying connection supports
// that.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return Unsupported.Errorf("connection has no half close")
}

// connOf returns the conn below taps and TLS, or nil.
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

// PeerOf returns the address of the peer of c, for Response.Peer. It is zero if
// c uses a proxy or is not a connection of a Net.
func PeerOf(c net.Conn) netip.Addr {
	if own := connOf(c); own != nil {
		return own.peer.Addr()
	}
	return netip.Addr{}
}

// SetIdleTimeout sets how long a read or a write of c may wait for a byte. Zero
// means no limit, for sessions with a user.
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

// SetQuickAck makes the system acknowledge data from c at once, if the system
// supports that. Some servers send a response in several small writes. Nagle's
// algorithm delays each of them until the previous one is acknowledged, usually
// by 40 ms. SetQuickAck must be called before the first read.
func SetQuickAck(c net.Conn) {
	own := connOf(c)
	if own == nil {
		return
	}
	if tcp, ok := own.Conn.(syscall.Conn); ok {
		own.quickAck, _ = tcp.SyscallConn()
	}
}
