package faultnet

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// deafSocket binds a loopback port that no client can connect to. A socket that
// does not listen refuses connections. If silent is true, the socket listens
// with a full queue and never accepts, so the kernel drops every SYN.
func deafSocket(silent bool) (addr netip.AddrPort, shut func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return addr, nil, err
	}
	held := []net.Conn{}
	shut = sync.OnceFunc(func() {
		for _, c := range held {
			c.Close()
		}
		syscall.Close(fd)
	})
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		var name syscall.Sockaddr
		if name, err = syscall.Getsockname(fd); err == nil {
			own := name.(*syscall.SockaddrInet4)
			addr = netip.AddrPortFrom(netip.AddrFrom4(own.Addr), uint16(own.Port))
		}
	}
	if err == nil && silent {
		err = syscall.Listen(fd, 0)
		for err == nil { // until the queue is full
			c, e := net.DialTimeout("tcp4", addr.String(), 50*time.Millisecond)
			if e != nil {
				break
			}
			held = append(held, c)
		}
	}
	if err != nil {
		shut()
	}
	return addr, shut, err
}
