package fetch

import (
	"net"

	"golang.org/x/sys/unix"
)

// reportRefusals makes reads of a UDP socket without a fixed peer fail if the
// server reports by ICMP that its port is closed (ip(7), IP_RECVERR).
func reportRefusals(c *net.UDPConn, v6 bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if v6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), level, option, 1) // without the option, a closed port causes a timeout
	})
}
