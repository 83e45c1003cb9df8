package fetch

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// TestKeepAlive checks that Options.KeepAlive selects the keep-alive messages of a
// connection.
func TestKeepAlive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name                string
		config              *net.KeepAliveConfig
		enabled, idle, many int
	}{
		{"default", nil, 1, 15, 9},
		{"disabled", new(net.KeepAliveConfig), 0, 0, 0},
		{"seconds and messages", &net.KeepAliveConfig{Enable: true, Idle: 40 * time.Second, Count: 4}, 1, 40, 4},
	} {
		policy := Typed()
		d := newDialer(&policy, Options{KeepAlive: c.config})
		conn, err := d.dialOne(t.Context(), "tcp", netip.MustParseAddrPort(l.Addr().String()), func(netip.Addr) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			enabled, _ := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
			idle, _ := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)
			many, _ := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT)
			if enabled != c.enabled || enabled == 1 && (idle != c.idle || many != c.many) {
				t.Errorf("%s: enabled %d, %d s, %d messages", c.name, enabled, idle, many)
			}
		})
		conn.Close()
	}
}
