package fetch

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// TestClosedPort checks that a closed UDP port is reported without waiting for
// a timeout.
func TestClosedPort(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		for _, network := range []string{anyPort, "udp"} {
			closed, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(host), 0)))
			if err != nil {
				t.Skip(err) // no IPv6
			}
			to := netip.MustParseAddrPort(closed.LocalAddr().String())
			closed.Close()
			d := newDialer(new(Policy), Options{})
			c, err := d.dialAddr(t.Context(), network, to, func(netip.Addr) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(time.Minute))
			if _, err := c.Write([]byte("hello")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 10)); !errors.Is(err, syscall.ECONNREFUSED) || FaultOf(err) != Connect {
				t.Errorf("%s, %s: got %v", host, network, err)
			}
			c.Close()
		}
	}
}
