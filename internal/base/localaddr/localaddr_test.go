package localaddr

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestContains changes the addresses of the interfaces, and makes them
// unreadable.
func TestContains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		addrs, failure := []string{"127.0.0.1/8", "192.0.2.7/24", "2001:db8::7/64"}, error(nil)
		s := &Set{Read: func() (list []net.Addr, err error) {
			reads++
			for _, a := range addrs {
				ip, network, _ := net.ParseCIDR(a)
				network.IP = ip
				list = append(list, network)
			}
			return list, failure
		}}
		check := func(addr string, want bool, wantReads int) {
			t.Helper()
			if got, err := s.Contains(netip.MustParseAddr(addr)); got != want || err != failure || reads != wantReads {
				t.Errorf("%s: %v, %v after %d reads, want %v after %d", addr, got, err, reads, want, wantReads)
			}
		}
		check("192.0.2.7", true, 1)
		check("::ffff:192.0.2.7", true, 1)
		check("2001:db8::7%eth0", true, 1)
		check("192.0.2.8", false, 1)
		addrs = []string{"192.0.2.8/24"}
		check("192.0.2.8", false, 1)
		time.Sleep(maxAge + 1)
		check("192.0.2.8", true, 2)
		check("192.0.2.7", false, 2)
		failure = errors.New("no interfaces")
		time.Sleep(maxAge + 1)
		check("192.0.2.8", true, 3)
	})
	if got, err := (*Set)(nil).Contains(netip.MustParseAddr("127.0.0.1")); got || err != nil {
		t.Errorf("nil Set: %v, %v", got, err)
	}
	if got, err := new(Set).Contains(netip.MustParseAddr("127.0.0.1")); !got || err != nil {
		t.Errorf("this machine: %v, %v", got, err)
	}
}
