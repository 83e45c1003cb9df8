package fetch

import (
	"net"
	"syscall"
)

// A socket calls functions of the operating system on the socket of a
// connection. These functions are created once, because a few allocations can
// take longer than a request.
type socket struct {
	raw                        syscall.RawConn
	acknowledges, waits, polls func(fd uintptr)

	quiet, known bool // results of polls
}

// newSocket returns nil if c is not a socket.
func newSocket(c net.Conn) *socket {
	of, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := of.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{raw: raw, acknowledges: acknowledge}
	s.waits = func(fd uintptr) { poll(fd, blockTime) }
	s.polls = func(fd uintptr) { s.quiet, s.known = poll(fd, 0) }
	return s
}

// acknowledge disables delayed acknowledgments until the next exchange. An
// error only makes transfers slower.
func (s *socket) acknowledge() { s.raw.Control(s.acknowledges) }

// wait blocks the thread until the socket has bytes to read, at most for
// blockTime. The next read reports errors of the socket.
func (s *socket) wait() { s.raw.Control(s.waits) }

// isQuiet reports whether the socket is open and has no bytes to read. The
// result known is false if the operating system cannot report this, or if s is
// nil.
func (s *socket) isQuiet() (quiet, known bool) {
	if s == nil {
		return false, false
	}
	s.quiet, s.known = false, false
	err := s.raw.Control(s.polls)
	return s.quiet, s.known && err == nil
}
