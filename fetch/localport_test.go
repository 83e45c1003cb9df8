package fetch

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// TestLocalPorts checks that connections use the first free port of the range,
// for TCP and UDP, IPv4 and IPv6.
func TestLocalPorts(t *testing.T) {
	for _, c := range []struct{ network, host string }{
		{"tcp", "127.0.0.1"}, {"tcp", "::1"}, {"udp", "127.0.0.1"}, {"udp", "::1"}, {anyPort, "127.0.0.1"},
	} {
		t.Run(c.network+" "+c.host, func(t *testing.T) {
			to, taken := listenPair(t, c.network, c.host)
			policy := Typed()
			judged := 0
			dial := func(last uint16) (net.Conn, error) {
				d := &dialer{policy: &policy, ports: [2]uint16{taken, last}}
				return d.dialOne(t.Context(), c.network, to, func(netip.Addr) error { judged++; return nil })
			}
			if _, err := dial(taken); !errors.Is(err, Connect) {
				t.Errorf("no free port: got %v", err)
			}
			if taken > 60000 {
				t.Skip("no ports above the one in use")
			}
			conn, err := dial(taken + 100)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if p := netip.MustParseAddrPort(conn.LocalAddr().String()).Port(); p <= taken || p > taken+100 || judged == 0 {
				t.Errorf("local port %d, want one from %d to %d; judged %d times", p, taken+1, taken+100, judged)
			}
			policy.Blocked = func(netip.AddrPort) bool { return true }
			if _, err := dial(taken + 100); !errors.Is(err, BadAddress) {
				t.Errorf("blocked address: got %v", err)
			}
		})
	}
}

// listenPair returns the address of a listener, and the local port of another
// socket, which cannot be used again.
func listenPair(t *testing.T, network, host string) (to netip.AddrPort, taken uint16) {
	t.Helper()
	var addrs [2]netip.AddrPort
	for i := range addrs {
		var text net.Addr
		if network == "tcp" {
			l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { l.Close() })
			text = l.Addr()
		} else {
			l, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { l.Close() })
			text = l.LocalAddr()
		}
		addrs[i] = netip.MustParseAddrPort(text.String())
	}
	return addrs[0], addrs[1].Port()
}
