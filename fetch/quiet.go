package fetch

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// quietWait is how long IsQuiet waits for bytes if the connection has no socket
// of the operating system.
const quietWait = time.Millisecond

// IsQuiet reports whether c, an idle connection of a pool, has received neither
// bytes nor an end of stream. Bytes that arrive before a request do not belong
// to its response. The caller must therefore close a connection that is not
// quiet.
//
// IsQuiet inspects the socket and the TLS buffers without waiting. If c has no
// socket, IsQuiet waits for one millisecond. No other method of c may be called
// at the same time.
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
	n, err := c.Read(make([]byte, 1)) // reads only the buffers above own
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// isQuiet reports whether the connection below c has received no data.
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

// isSilent waits for quietWait and reports whether c received no data.
func isSilent(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(quietWait))
	n, err := c.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
