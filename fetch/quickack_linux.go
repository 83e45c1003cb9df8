package fetch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// acknowledge has the kernel acknowledge at once what has come and what comes
// next. It forgets that with each exchange.
func acknowledge(raw syscall.RawConn) {
	raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) // without it all is well, but slow
	})
}
