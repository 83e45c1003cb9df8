package fetch

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"

	"github.com/anyurl/fetch/internal/wire/reservedport"
)

// TestReservedPort checks that the server sees a reserved port, or no
// connection if the process cannot bind one.
func TestReservedPort(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from := make(chan netip.AddrPort, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			from <- netip.MustParseAddrPort(c.RemoteAddr().String())
			c.Close()
		}
	}()
	shaped := false
	ctx := reservedport.With(t.Context(), func(c *net.TCPConn) net.Conn { shaped = true; return c })
	to := netip.MustParseAddrPort(l.Addr().String())
	policy := Typed()
	d := &dialer{policy: &policy}
	judged := false
	c, err := d.dialOne(ctx, "tcp", to, func(netip.Addr) error { judged = true; return nil })
	if os.Geteuid() != 0 {
		if !errors.Is(err, BadPort) {
			t.Errorf("without leave: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if p := (<-from).Port(); p < reservedport.First || p > reservedport.Last || !shaped || !judged {
		t.Errorf("from port %d, shaped %t, judged %t", p, shaped, judged)
	}
	refused := BadAddress.Errorf("no")
	if _, err := d.dialOne(ctx, "tcp", to, func(netip.Addr) error { return refused }); !errors.Is(err, BadAddress) {
		t.Errorf("the policy was not asked: %v", err)
	}
}
