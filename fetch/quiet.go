package fetch

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// glance is how long Quiet waits for bytes where it finds no socket of the
// operating system to look at.
const quietWait = time.Millisecond

// Quiet reports whether nothing arrived on c, a connection that waits in a
// pool: neither bytes nor its end. Bytes that arrive before a request are no
// answer to it, so the caller closes a connection that is not quiet.
//
// Quiet looks at the socket, and at the buffers of TLS above it, without
// waiting. Where c has no socket below it, Quiet waits for a millisecond. No
// other method of c may be called meanwhile.
func IsQuiet(c net.Conn) bool {
	own := connOf(c)
	if own == nil {
		defer c.SetReadDeadline(time.Time{})
		return isSilent(c)
	}
	if !own.isQuiet() {
		return false
	}
	if c == net.Conn(own) {
		return true
	}
	own.buffersOnly = true
	defer func() { own.buffersOnly = false }()
	n, err := c.Read(make([]byte, 1)) // from the buffers above own alone
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// isQuiet looks at the connection below c.
func (c *conn) isQuiet() bool {
	if socket, ok := c.Conn.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			if quiet, known := peek(raw); known {
				return quiet
			}
		}
	}
	quiet := isSilent(c.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	return quiet && c.setDeadline(&c.read, c.Conn.SetReadDeadline) == nil
}

// isSilent waits for bytes or the end of c for as long as a glance.
func isSilent(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(quietWait))
	n, err := c.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
