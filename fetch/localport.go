package fetch

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"syscall"
)

// tryPorts calls dial with the local ports of the dialer in turn, until it
// returns another error than that the port is in use. If the dialer has no local
// ports, tryPorts calls dial once with port 0.
func (d *dialer) tryPorts(dial func(port uint16) (net.Conn, error)) (net.Conn, error) {
	first, last := d.ports[0], d.ports[1]
	if first == 0 {
		return dial(0)
	}
	for port := int(first); port <= int(last); port++ {
		c, err := dial(uint16(port))
		switch {
		case isInUse(err):
			continue
		case errors.Is(err, syscall.EACCES) && port < 1024:
			return nil, Local.Errorf("this process cannot bind the local port %d: %w", port, err)
		}
		return c, err
	}
	return nil, Connect.Errorf("no local port from %d to %d is free", first, last)
}

// isInUse reports whether err means that another socket uses the local port.
func isInUse(err error) bool {
	const wsaeAddrInUse = syscall.Errno(10048) // Windows does not return syscall.EADDRINUSE
	return errors.Is(err, syscall.EADDRINUSE) || runtime.GOOS == "windows" && errors.Is(err, wsaeAddrInUse)
}

// localAddr returns the local address of a connection. The zero Addr means every
// address, and the port 0 means every port. If both are zero, localAddr returns
// nil.
func localAddr(network string, a netip.Addr, port uint16) net.Addr {
	if !a.IsValid() && port == 0 {
		return nil
	}
	if network == "udp" {
		return net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, port))
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, port))
}
