//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fetch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// peek reports whether a socket is open and has no bytes to read. The result
// known is false if the operating system cannot report this.
func peek(raw syscall.RawConn) (quiet, known bool) {
	err := raw.Control(func(fd uintptr) {
		for {
			_, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if err == unix.EINTR {
				continue
			}
			quiet = err == unix.EAGAIN || err == unix.EWOULDBLOCK
			known = err != unix.ENOTSOCK
			return
		}
	})
	return quiet, known && err == nil
}
