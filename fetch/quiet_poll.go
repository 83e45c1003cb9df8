//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fetch

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll waits until a socket has bytes to read, the peer closes it, a signal
// arrives or the time wait has passed. It then reports whether the socket is open
// and has no bytes. The result known is false if this is unknown.
func poll(fd uintptr, wait time.Duration) (quiet, known bool) {
	for {
		// The end of the connection and errors are also events.
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(wait.Milliseconds()))
		if err != unix.EINTR || wait > 0 { // a repeated wait would exceed the time
			return n == 0, err == nil
		}
	}
}
