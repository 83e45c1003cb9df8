//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fetch

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits for up to wait, and at most until a socket has bytes to read or is
// closed by its peer. It then reports whether the socket is open and has no
// bytes. The result known is false if the operating system cannot report this.
func poll(fd uintptr, wait time.Duration) (quiet, known bool) {
	for {
		// The end of the connection and errors are also events.
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(wait.Milliseconds()))
		if err != unix.EINTR {
			return n == 0, err == nil
		}
	}
}
