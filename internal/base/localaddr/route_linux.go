package localaddr

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
)

// lookupTimeout limits the wait for the reply of the kernel, in seconds.
const lookupTimeout = 1

// isRouted reports whether the kernel delivers packets for a to this machine. It
// requests the route to a from the kernel, with the messages of rtnetlink(7). A
// route of the type "local" can cover more than the addresses of interfaces: a
// prefix on the interface "lo", or a prefix that "ip route add local" added.
// Datagrams to the broadcast address of a network, and to the anycast address of
// the routers of an IPv6 network, reach this machine too.
func isRouted(a netip.Addr) (bool, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return false, err
	}
	defer syscall.Close(fd)
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: lookupTimeout}); err != nil {
		return false, err
	}
	if err := syscall.Sendto(fd, routeRequest(a), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return false, err
	}
	reply := make([]byte, 4<<10)
	n, _, err := syscall.Recvfrom(fd, reply, 0)
	if err != nil {
		return false, err
	}
	return isLocalRoute(reply[:n])
}

// routeRequest returns a message that requests the route to a.
func routeRequest(a netip.Addr) []byte {
	family, bits := byte(syscall.AF_INET6), byte(a.BitLen())
	if a.Is4() {
		family = syscall.AF_INET
	}
	address := a.AsSlice()
	size := syscall.SizeofNlMsghdr + syscall.SizeofRtMsg + syscall.SizeofRtAttr + len(address)
	m := binary.NativeEndian.AppendUint32(nil, uint32(size))
	m = binary.NativeEndian.AppendUint16(m, syscall.RTM_GETROUTE)
	m = binary.NativeEndian.AppendUint16(m, syscall.NLM_F_REQUEST)
	m = append(m, make([]byte, 8)...)                               // sequence number and port
	m = append(m, family, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)       // struct rtmsg
	m = binary.NativeEndian.AppendUint16(m, uint16(4+len(address))) // struct rtattr
	m = binary.NativeEndian.AppendUint16(m, syscall.RTA_DST)
	return append(m, address...)
}

// isLocalRoute reports whether a reply contains a route of the type "local",
// "broadcast" or "anycast". An error of the kernel means that it has no route.
func isLocalRoute(reply []byte) (bool, error) {
	list, err := syscall.ParseNetlinkMessage(reply)
	switch {
	case err != nil:
		return false, err
	case len(list) == 0:
		return false, errors.New("empty reply of the kernel")
	case list[0].Header.Type == syscall.NLMSG_ERROR:
		return false, nil
	case list[0].Header.Type != syscall.RTM_NEWROUTE || len(list[0].Data) < syscall.SizeofRtMsg:
		return false, errors.New("unexpected reply of the kernel")
	}
	switch list[0].Data[7] { // the field rtm_type
	case syscall.RTN_LOCAL, syscall.RTN_BROADCAST, syscall.RTN_ANYCAST:
		return true, nil
	}
	return false, nil
}
