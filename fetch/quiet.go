package fetch

import (
	"errors"
	"net"
	"os"
	"syscall"
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
	if c.probe == nil {
		c.probe = newProbe(c.Conn)
	}
	if quiet, known := c.probe.isQuiet(); known {
		return quiet
	}
	quiet := isSilent(c.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	return quiet && c.setDeadline(&c.read, time.Now(), c.Conn.SetReadDeadline) == nil
}

// A probe inspects the socket of a connection. Calls of isQuiet do not allocate
// memory, because a few allocations can take longer than a request.
type probe struct {
	socket       syscall.RawConn // nil if the connection is not a socket
	inspect      func(fd uintptr)
	quiet, known bool // results of inspect
}

func newProbe(c net.Conn) *probe {
	p := &probe{}
	p.inspect = func(fd uintptr) { p.quiet, p.known = poll(fd, 0) }
	if socket, ok := c.(syscall.Conn); ok {
		p.socket, _ = socket.SyscallConn()
	}
	return p
}

// isQuiet reports whether the socket is open and has no bytes to read. The
// result known is false if the operating system cannot report this.
func (p *probe) isQuiet() (quiet, known bool) {
	if p.socket == nil {
		return false, false
	}
	p.quiet, p.known = false, false
	err := p.socket.Control(p.inspect)
	return p.quiet, p.known && err == nil
}

// isSilent reports whether no data arrives on c during quietWait.
func isSilent(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(quietWait))
	n, err := c.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
