package fetch

import (
	"errors"
	"net"
	"os"
	"time"
)

// quietWait is the time that IsQuiet waits for bytes on a connection that is
// not a socket.
const quietWait = time.Millisecond

// IsQuiet reports whether an idle connection is open and has received no bytes.
// Bytes that arrive before a request do not belong to its response. The caller
// must therefore close a pooled connection if IsQuiet returns false.
//
// IsQuiet inspects the socket and the TLS buffers without waiting. If c is not
// a socket, IsQuiet waits for one millisecond. No other method of c may be
// called at the same time.
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
	n, err := c.Read(make([]byte, 1)) // reads only the buffers of TLS and taps, not the socket
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// isQuiet reports whether the socket of c is open and has received no data.
func (c *conn) isQuiet() bool {
	if quiet, known := c.socket.isQuiet(); known {
		return quiet
	}
	return isSilent(c.Conn) && c.read.reset() == nil
}

// isSilent reports whether no data arrives on c during quietWait.
func isSilent(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(quietWait))
	n, err := c.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
