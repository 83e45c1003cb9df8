package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync/atomic"
)

// anyPort is the network of [Net.DialContext] for a UDP socket that accepts the
// first reply from another port of the server.
const anyPort = "udp-any"

// dialAnyPort opens a UDP socket for datagrams to the address to, and for
// replies from any port of this address.
func dialAnyPort(ctx context.Context, local netip.Addr, to netip.AddrPort) (net.Conn, error) {
	network := "udp4"
	if to.Addr().Unmap().Is6() {
		network = "udp6"
	}
	host := ""
	if local.IsValid() {
		host = local.String()
	}
	var config net.ListenConfig
	raw, err := config.ListenPacket(ctx, network, net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	c := &anyPortConn{UDPConn: raw.(*net.UDPConn), first: netip.AddrPortFrom(to.Addr().Unmap(), to.Port())}
	c.peer.Store(&c.first)
	return c, nil
}

// An anyPortConn is a UDP socket that exchanges datagrams with one server. The
// first datagram of the server may come from another port, to which all later
// datagrams are sent. The conn ignores datagrams from other addresses and other
// ports, and datagrams from reserved ports to which nothing was sent.
type anyPortConn struct {
	*net.UDPConn
	first  netip.AddrPort                 // address of the first datagram
	peer   atomic.Pointer[netip.AddrPort] // address of the next datagram
	chosen atomic.Bool                    // the server has chosen its port
}

func (c *anyPortConn) Read(p []byte) (int, error) {
	for {
		n, from, err := c.ReadFromUDPAddrPort(p)
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
	return c.WriteToUDPAddrPort(p, *c.peer.Load())
}

func (c *anyPortConn) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(*c.peer.Load()) }
