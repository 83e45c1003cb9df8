//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fetch

import "golang.org/x/sys/unix"

// poll reports whether a socket is open and has no bytes to read. The result
// known is false if the operating system cannot report this.
func poll(fd uintptr) (quiet, known bool) {
	for {
		// The end of the connection and errors are also events.
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if err != unix.EINTR {
			return n == 0, err == nil
		}
	}
}
