package fetch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// acknowledge makes the kernel acknowledge received data at once. The kernel
// resets the option after each exchange.
func acknowledge(raw syscall.RawConn) {
	raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) // an error only makes transfers slower
	})
}
