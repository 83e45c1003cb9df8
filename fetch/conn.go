package fetch

import (
	"net"
	"net/netip"
	"os"
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

	socket      *socket       // nil if Conn is not a socket
	quickAck    bool          // received data is acknowledged at once
	blocking    *blockingRead // not nil after SetBlockingReads
	readers     *readers      // of the dialer
	buffersOnly bool          // Read returns no data, so that IsQuiet tests only the buffers of TLS and taps

	read, write deadline
}

func newConn(raw net.Conn, idle time.Duration) *conn {
	c := &conn{Conn: raw, socket: newSocket(raw)}
	c.read = deadline{set: raw.SetReadDeadline, idle: idle}
	c.write = deadline{set: raw.SetWriteDeadline, idle: idle}
	return c
}

func (c *conn) Read(p []byte) (int, error) {
	if c.buffersOnly {
		return 0, os.ErrDeadlineExceeded
	}
	return c.receive(func() (int, error) {
		if c.blocking != nil {
			return c.blocking.read(c, p)
		}
		return c.Conn.Read(p)
	})
}

// CanReadPipe implements splice.Source.
func (c *conn) CanReadPipe() bool { return splice.CanFill(c.Conn) }

// ReadPipe implements splice.Source. It has the same timeouts as Read.
func (c *conn) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	return c.receive(func() (int, error) { return p.Fill(c.Conn, limit) })
}

// receive calls read, which reads from the connection.
func (c *conn) receive(read func() (int, error)) (int, error) {
	if c.quickAck {
		c.socket.acknowledge()
	}
	return c.read.apply(read)
}

// Write fails after the same idle time as Read, because a peer that accepts no
// data would block the writer forever. Package net/http has no such timeout.
func (c *conn) Write(p []byte) (int, error) {
	return c.write.apply(func() (int, error) { return c.Conn.Write(p) })
}

// SetReadDeadline sets the deadline for reads. The idle timeout still applies.
func (c *conn) SetReadDeadline(t time.Time) error { return c.read.request(t) }

// SetWriteDeadline sets the deadline for writes. The idle timeout still
// applies.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.request(t) }

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

// connOf returns the conn that a TLS connection or a tap wraps, or nil if c wraps
// no conn.
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
// server, or if c uses a Unix domain socket. A connection that no Net opened has no
// address either.
func PeerOf(c net.Conn) netip.Addr {
	if own := connOf(c); own != nil {
		return own.peer.Addr()
	}
	return netip.Addr{}
}

// IsProxied reports whether c goes through a proxy. PeerOf does not answer this,
// because the address of a server can be known although a proxy connects to it.
func (c *conn) IsProxied() bool { return !c.proxy.URL.IsZero() }

// SetIdleTimeout sets the maximum time that a read or a write of c waits for
// the next byte. Zero means no limit, which suits interactive sessions.
// SetIdleTimeout has no effect if c was not opened by a Net.
func SetIdleTimeout(c net.Conn, d time.Duration) {
	if own := connOf(c); own != nil {
		own.read.setIdle(d)
		own.write.setIdle(d)
	}
}

// SetQuickAck implements [socket.Tuner].
func (c *conn) SetQuickAck() {
	if c.socket != nil {
		c.quickAck = true
	}
}

// NetConn returns the connection that the dialer opened.
func (c *conn) NetConn() net.Conn { return c.Conn }
