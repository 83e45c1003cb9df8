package fetch

import "golang.org/x/sys/unix"

// acknowledge disables delayed acknowledgments of a TCP socket until the next
// exchange, when the kernel resets the option TCP_QUICKACK.
func acknowledge(fd uintptr) {
	unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) // an error only makes transfers slower
}
