package faultnet

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"errors"

	"go.uber.org/goleak"
)

func TestPackets(t *testing.T) {
	double := func(request []byte) [][]byte {
		return [][]byte{fmt.Appendf(nil, "%s1", request), fmt.Appendf(nil, "%s2", request)}
	}
	for _, c := range []struct {
		name        string
		packets     Packets
		heard, came string
	}{
		{"in order", Packets{Answer: double}, "a b c", "a1 a2 b1 b2 c1 c2"},
		{"no answer", Packets{}, "a b c", ""},
		{"request dropped", Packets{Answer: double, Requests: Nth(Drop, 2)}, "a c", "a1 a2 c1 c2"},
		{"request doubled", Packets{Answer: double, Requests: Nth(Double, 3)}, "a b c c", "a1 a2 b1 b2 c1 c2 c1 c2"},
		{"request late", Packets{Answer: double, Requests: Nth(Late, 1)}, "b a c", "b1 b2 a1 a2 c1 c2"},
		{"reply dropped", Packets{Answer: double, Replies: Nth(Drop, 1, 6)}, "a b c", "a2 b1 b2 c1"},
		{"reply doubled", Packets{Answer: double, Replies: Nth(Double, 2)}, "a b c", "a1 a2 a2 b1 b2 c1 c2"},
		{"replies late", Packets{Answer: double, Replies: Nth(Late, 1, 2, 5)}, "a b c", "b1 a1 a2 b2 c2 c1"},
		{"last reply late: never", Packets{Answer: double, Replies: Nth(Late, 6)}, "a b c", "a1 a2 b1 b2 c1"},
		{"all dropped", Packets{Answer: double, Replies: Sometimes(Drop, 1, 7)}, "a b c", ""},
		{"none dropped", Packets{Answer: double, Replies: Sometimes(Drop, 0, 7)}, "a b c", "a1 a2 b1 b2 c1 c2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(t *testing.T, s *PacketServer, conn net.Conn) {
				defer conn.Close()
				for _, request := range []string{"a", "b", "c"} {
					io.WriteString(conn, request)
				}
				var came []string
				for p := make([]byte, 10); ; {
					patience := 100 * time.Millisecond // for datagrams that must not arrive
					if len(came) < len(strings.Fields(c.came)) {
						patience = time.Minute // a machine may be busy
					}
					conn.SetReadDeadline(time.Now().Add(patience))
					n, err := conn.Read(p)
					if errors.Is(err, os.ErrDeadlineExceeded) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					came = append(came, string(p[:n]))
				}
				var heard []string
				for _, request := range s.Requests() {
					heard = append(heard, string(request))
				}
				if !slices.Equal(heard, strings.Fields(c.heard)) || !slices.Equal(came, strings.Fields(c.came)) {
					t.Errorf("heard %q, want %q; came %q, want %q", heard, c.heard, came, c.came)
				}
				s.Close()
			}
			t.Run("memory", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := NewNetwork(t)
					s := n.ServePackets("192.0.2.1:1525", c.packets)
					conn, err := n.Dial(t.Context(), "udp4", s.Addr())
					if err != nil {
						t.Fatal(err)
					}
					check(t, s, conn)
				})
			})
			t.Run("loopback", func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				s := ListenPackets(t, c.packets)
				conn, err := net.Dial("udp4", s.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				check(t, s, conn)
			})
		})
	}
}

func TestSometimesIsTheSameEachTime(t *testing.T) {
	a, b := Sometimes(Drop, 0.3, 1), Sometimes(Drop, 0.3, 1)
	drops := 0
	for n := range 1000 {
		fate := a(n)
		if fate != b(n) {
			t.Fatal("differs at", n)
		}
		if fate == Drop {
			drops++
		}
	}
	if drops < 250 || drops > 350 {
		t.Errorf("%d of 1000 dropped, want about 300", drops)
	}
}

// TestNoServer connects to an address without a server.
func TestNoServer(t *testing.T) {
	n := NewNetwork(t)
	if conn, err := n.Dial(t.Context(), "tcp", there); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("tcp: %v, %v", conn, err)
	}
	conn, err := n.Dial(t.Context(), "udp", there)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "x")
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("udp: %v", err)
	}
	if got, want := fmt.Sprint(n.Dialed()), "[{tcp 192.0.2.1:70} {udp 192.0.2.1:70}]"; got != want {
		t.Errorf("dialed %s, want %s", got, want)
	}
}
