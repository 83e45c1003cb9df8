package fetch

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// conn is a connection through the door: it remembers whom it reaches and on
// whose behalf, and ends a read when nothing comes for too long.
type conn struct {
	net.Conn
	peer netip.AddrPort // zero behind a proxy
	host string         // as it was dialled
	via  Proxy          // zero: none
	key  string         // of the grant

	mu    sync.Mutex
	idle  time.Duration // 0: a read may wait for ever
	asked time.Time     // the deadline of our caller
	armed time.Time     // when the deadline of the connection was last set
}

// rearm is how much older than a read its deadline may be: setting one for
// each of many small reads would cost more than the reads.
const rearm = time.Second

func (c *conn) Read(p []byte) (int, error) {
	c.arm()
	return c.Conn.Read(p)
}

func (c *conn) arm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle <= 0 {
		return
	}
	now := time.Now()
	if now.Sub(c.armed) < rearm {
		return
	}
	c.armed = now
	c.setRead(now.Add(c.idle))
}

func (c *conn) setRead(t time.Time) error {
	if !c.asked.IsZero() && (t.IsZero() || c.asked.Before(t)) {
		t = c.asked
	}
	return c.Conn.SetReadDeadline(t)
}

// SetReadDeadline keeps the caller's deadline beside that of idleness; the
// earlier one counts.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = t
	if c.idle <= 0 {
		return c.setRead(time.Time{})
	}
	c.armed = time.Now()
	return c.setRead(c.armed.Add(c.idle))
}

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.Conn.SetWriteDeadline(t)
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

// SetIdle changes how long a read of c may wait for a byte; zero is for ever:
// a session in which a person thinks.
func SetIdle(c net.Conn, d time.Duration) {
	own := connOf(c)
	if own == nil {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.idle, own.armed = max(d, 0), time.Now()
	if own.idle == 0 {
		own.setRead(time.Time{})
		return
	}
	own.setRead(own.armed.Add(own.idle))
}
