package fetch

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// serveNames starts a DNS server, for which each name has the address 127.0.0.1. It
// returns its address, and a counter of the queries.
func serveNames(t *testing.T) (addr netip.AddrPort, queries *atomic.Int32) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	queries = new(atomic.Int32)
	go func() {
		for b := make([]byte, 1024); ; {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			queries.Add(1)
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60},
					Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
			}
			if answer, err := m.Pack(); err == nil {
				c.WriteTo(answer, from)
			}
		}
	}()
	return netip.MustParseAddrPort(c.LocalAddr().String()), queries
}

// TestServerResolverLocal checks that no query leaves from another address than
// those that the user named, for example because a DNS server has only IPv4.
func TestServerResolverLocal(t *testing.T) {
	addr, queries := serveNames(t)
	six := netip.MustParseAddrPort("[::1]:9")
	v4, v6 := netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()
	for _, c := range []struct {
		name    string
		servers []netip.AddrPort
		local   []netip.Addr
		err     string // part of the error
	}{
		{"any address", []netip.AddrPort{addr}, nil, ""},
		{"same family", []netip.AddrPort{addr}, []netip.Addr{v4}, ""},
		{"both families", []netip.AddrPort{addr}, []netip.Addr{v6, v4}, ""},
		{"other family", []netip.AddrPort{addr}, []netip.Addr{v6}, "family"},
		{"a server of each family", []netip.AddrPort{six, addr}, []netip.Addr{v4}, ""},
	} {
		queries.Store(0)
		r := ServerResolver(c.servers, c.local)
		for range 4 {
			addrs, err := r.LookupNetIP(t.Context(), "ip", "name.test.")
			if c.err == "" && (err != nil || len(addrs) != 1) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%s: got %v, %v, want %q", c.name, addrs, err, c.err)
			}
		}
		if n := queries.Load(); (n > 0) != (c.err == "") {
			t.Errorf("%s: %d queries", c.name, n)
		}
	}
}
