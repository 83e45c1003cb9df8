package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
)

// anyPort is the network argument of [Net.DialContext] for a UDP socket whose
// server may choose another port with its first reply, as in TFTP.
const anyPort = "udp-any"

// dialAnyPort opens a UDP socket that sends to the server whose address is
// given by to. The socket accepts replies from any port of this server. Its own
// address and port are local and port, or any if they are zero.
func dialAnyPort(ctx context.Context, local netip.Addr, port uint16, to netip.AddrPort) (net.Conn, error) {
	network := "udp4"
	if to.Addr().Unmap().Is6() {
		network = "udp6"
	}
	host := ""
	if local.IsValid() {
		host = local.String()
	}
	var config net.ListenConfig
	raw, err := config.ListenPacket(ctx, network, net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	c := &anyPortConn{UDPConn: raw.(*net.UDPConn), first: netip.AddrPortFrom(to.Addr().Unmap(), to.Port())}
	c.peer.Store(&c.first)
	reportRefusals(c.UDPConn, network == "udp6")
	return c, nil
}

// An anyPortConn is a UDP socket that exchanges datagrams with one server. The
// first datagram of the server may come from another port, to which all later
// datagrams are sent. Read ignores datagrams from other addresses and other
// ports, and datagrams from ports below 1024 to which no datagram was sent. On
// Linux, Read and Write fail if the server reports that its port is closed.
type anyPortConn struct {
	*net.UDPConn
	first  netip.AddrPort                 // destination of the first datagram
	peer   atomic.Pointer[netip.AddrPort] // destination of the next datagram
	chosen atomic.Bool                    // the first reply has fixed the port of the server
}

func (c *anyPortConn) Read(p []byte) (int, error) {
	for {
		n, from, err := c.ReadFromUDPAddrPort(p)
		if isUnreachable(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		switch {
		case from == *c.peer.Load():
			c.chosen.Store(true)
			return n, nil
		case from.Addr() != c.first.Addr(), from.Port() < 1024, c.chosen.Swap(true):
			continue
		}
		c.peer.Store(&from)
		return n, nil
	}
}

func (c *anyPortConn) Write(p []byte) (int, error) {
	n, err := c.WriteToUDPAddrPort(p, *c.peer.Load())
	if isUnreachable(err) { // concerns an earlier datagram
		n, err = c.WriteToUDPAddrPort(p, *c.peer.Load())
	}
	return n, err
}

// isUnreachable reports whether err is an ICMP message of a router, which is
// often transient. The caller then sends its datagram again after a timeout.
func isUnreachable(err error) bool {
	return errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}

func (c *anyPortConn) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(*c.peer.Load()) }
