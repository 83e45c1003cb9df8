package ardp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

const address = "192.0.2.1:1525"

// call sends requests to a server over an unreliable network.
type call struct {
	reply string
	err   error
	took  time.Duration
	sent  [][]byte // datagrams that reached the server
	notes []string
}

func ask(t *testing.T, request string, p faultnet.Packets) (c call) {
	t.Helper()
	n := faultnet.NewNetwork(t)
	s := n.ServePackets(address, p)
	conn, err := n.Dial(context.Background(), "udp", netip.MustParseAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	reply, err := ardp.New(conn, []byte(request), ardp.Options{ID: 0x4102, Note: func(format string, args ...any) {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}})
	if err == nil {
		var b []byte
		b, err = io.ReadAll(reply)
		c.reply = string(b)
	}
	c.err, c.took = err, time.Since(began)
	conn.Close()
	s.Close()
	c.sent = s.Requests()
	return c
}

// dirsrv is a server with a long listing, and request requests the listing.
func dirsrv() *prospertest.Server {
	s := prospertest.NewServer("H")
	s.Add(prospertest.Object{Name: "D", Target: "DIRECTORY", Hidden: true})
	for i := range 800 {
		s.Add(prospertest.Object{Name: fmt.Sprintf("D/file-%03d", i), Target: "FILE"})
	}
	return s
}

const request = "DIRECTORY ASCII D\nLIST '' COMPONENTS\n"

// TestLoss: packet loss, duplication and delay do not change the reply.
func TestLoss(t *testing.T) {
	var whole string
	synctest.Test(t, func(t *testing.T) { whole = ask(t, request, faultnet.Packets{Answer: dirsrv().Answer}).reply })
	if n := strings.Count(whole, "\n"); n != 800 || len(whole) < 32*1250 {
		t.Fatalf("%d lines, %d bytes", n, len(whole))
	}
	for name, c := range map[string]struct {
		requests, replies faultnet.Fates
		took              time.Duration
	}{
		"nothing is lost":               {nil, nil, 0},
		"the request is lost":           {faultnet.Nth(faultnet.Drop, 1), nil, 4 * time.Second},
		"the request is lost thrice":    {faultnet.Nth(faultnet.Drop, 1, 2, 3), nil, 28 * time.Second},
		"the request comes twice":       {faultnet.Nth(faultnet.Double, 1), nil, 0},
		"the first packet is lost":      {nil, faultnet.Nth(faultnet.Drop, 1), 0},
		"a packet is lost":              {nil, faultnet.Nth(faultnet.Drop, 3), 0},
		"the last of a window is lost":  {nil, faultnet.Nth(faultnet.Drop, 16), 4 * time.Second},
		"all of a window but the first": {nil, faultnet.Nth(faultnet.Drop, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), 4 * time.Second},
		"the acknowledgement is lost":   {faultnet.Nth(faultnet.Drop, 2), nil, 4 * time.Second},
		"a packet comes late":           {nil, faultnet.Nth(faultnet.Late, 3, 7, 20), 0},
		"all come twice":                {faultnet.Sometimes(faultnet.Double, 1, 1), faultnet.Sometimes(faultnet.Double, 1, 2), 0},
		"a third is lost":               {faultnet.Sometimes(faultnet.Drop, .3, 3), faultnet.Sometimes(faultnet.Drop, .3, 4), 5 * time.Minute},
		"half are late":                 {nil, faultnet.Sometimes(faultnet.Late, .5, 5), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := ask(t, request, faultnet.Packets{Answer: dirsrv().Answer, Requests: c.requests, Replies: c.replies})
				if got.err != nil || got.reply != whole || got.took > c.took {
					t.Errorf("got %d bytes, %v after %v, want %d within %v", len(got.reply), got.err, got.took, len(whole), c.took)
				}
			})
		})
	}
}

// TestSilence: each packet is sent at most four times.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		got := ask(t, request, faultnet.Packets{Answer: func([]byte) [][]byte {
			at = append(at, time.Since(began))
			return nil
		}})
		if want := "[0s 4s 12s 28s]"; fmt.Sprint(at) != want || !errors.Is(got.err, os.ErrDeadlineExceeded) || got.took != time.Minute {
			t.Errorf("sent at %v, %v after %v", at, got.err, got.took)
		}
	})
	synctest.Test(t, func(t *testing.T) { // also in the middle of a reply
		first := true
		got := ask(t, request, faultnet.Packets{Answer: func([]byte) [][]byte {
			if !first {
				return nil
			}
			first = false
			return [][]byte{ardp.Packet{ID: 0x4102, Number: 1, Data: []byte("half")}.Append(nil)}
		}})
		if !errors.Is(got.err, io.ErrUnexpectedEOF) || got.reply != "half" || got.took != time.Minute || len(got.sent) != 4 {
			t.Errorf("%q, %v after %v, sent %d", got.reply, got.err, got.took, len(got.sent))
		}
	})
}

// packets returns a server that sends the given packets once, after the first
// request.
func packets(all ...ardp.Packet) faultnet.Packets {
	return faultnet.Packets{Answer: func() func([]byte) [][]byte {
		var said bool
		return func([]byte) (out [][]byte) {
			if said {
				return nil
			}
			said = true
			for _, p := range all {
				if p.ID == 0 {
					p.ID = 0x4102
				}
				out = append(out, p.Append(nil))
			}
			return out
		}
	}()}
}

// TestReplies checks valid and invalid packets of a server.
func TestReplies(t *testing.T) {
	const whole = "the reply"
	good := ardp.Packet{Number: 1, Total: 1, Data: []byte(whole)}
	data := func(n, total uint16, text string) ardp.Packet {
		return ardp.Packet{Number: n, Total: total, Data: []byte(text)}
	}
	address := func(a string) []byte {
		to := netip.MustParseAddrPort(a)
		ip := to.Addr().As4()
		return append(ip[:], byte(to.Port()>>8), byte(to.Port()))
	}
	for _, c := range []struct {
		name  string
		p     faultnet.Packets
		reply string
		err   error
		took  time.Duration
	}{
		{"one packet", packets(good), whole, nil, 0},
		{"id with its octets swapped", packets(ardp.Packet{ID: 0x0241, Number: 1, Total: 1, Data: []byte(whole)}), whole, nil, 0},
		{"another conversation", packets(ardp.Packet{ID: 0x4103, Number: 1, Total: 1, Data: []byte("evil")}, good), whole, nil, 0},
		{"version 1", packets(ardp.Packet{Version: 1, Number: 1, Total: 1, Data: []byte(whole)}), whole, nil, 0},
		{"control packets among them", packets(data(1, 0, "the "), ardp.Packet{Number: 2, Control: true, Data: []byte("x")}, data(3, 3, "reply")), whole, nil, 0},
		{"the last first", packets(data(3, 3, "ply"), data(2, 0, " re"), data(1, 0, "the")), whole, nil, 0},
		{"wait, and then", packets(ardp.Packet{HasWait: true, Wait: 300}, good), whole, nil, 0},
		{"wait, and nothing", packets(ardp.Packet{HasWait: true, Wait: 100}), "", os.ErrDeadlineExceeded, 160 * time.Second},
		{"wait, and wait no longer", packets(ardp.Packet{HasWait: true, Wait: 100}, ardp.Packet{HasWait: true}), "", os.ErrDeadlineExceeded, time.Minute},
		{"wait for a day", packets(ardp.Packet{HasWait: true, Wait: 65535}), "", os.ErrDeadlineExceeded, 10 * time.Minute},
		{"refused", packets(ardp.Packet{Option: ardp.Refused}), "", ardp.ErrRefused, 0},
		{"redirect without address", packets(ardp.Packet{Option: ardp.Redirect, Args: []byte("abc")}), "", ardp.ErrMalformed, 0},
		{"two totals", packets(data(1, 2, "a"), data(2, 3, "b")), "a", ardp.ErrMalformed, 0},
		{"total below what has come", packets(data(1, 0, "a"), data(2, 0, "b"), data(3, 2, "c")), "ab", ardp.ErrMalformed, 0},
		{"packet behind the total", packets(data(1, 2, "a"), data(3, 0, "b")), "a", ardp.ErrMalformed, 0},
		{"text without header", faultnet.Packets{Answer: func([]byte) [][]byte { return [][]byte{[]byte("VERSION 5\n")} }}, "", ardp.ErrMalformed, 0},
		{"broken header, then the reply", faultnet.Packets{Answer: func([]byte) [][]byte { return [][]byte{{9, 1}, {}, good1()} }}, whole, nil, 0},
		{"garbage for ever", faultnet.Packets{Answer: func([]byte) [][]byte { return [][]byte{bytes.Repeat([]byte{7}, 1400)} }}, "", os.ErrDeadlineExceeded, time.Minute},
		{"nobody there", faultnet.Packets{Answer: nil}, "", os.ErrDeadlineExceeded, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := ask(t, request, c.p)
				if got.reply != c.reply || !errors.Is(got.err, c.err) || got.took > c.took {
					t.Errorf("got %q, %v after %v, want %q, %v within %v", got.reply, got.err, got.took, c.reply, c.err, c.took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, request, packets(ardp.Packet{Option: ardp.RedirectAll, Args: address("198.51.100.7:191")}))
		var to *ardp.RedirectError
		if !errors.As(got.err, &to) || to.To.String() != "198.51.100.7:191" {
			t.Errorf("redirect: got %v", got.err)
		}
		got = ask(t, request, packets(ardp.Packet{Option: ardp.Queue, Args: []byte{1, 0, 5}}, good))
		if got.reply != whole || len(got.notes) != 1 || got.notes[0] != "number 5 in the server's queue" {
			t.Errorf("queue: got %q, %q", got.reply, got.notes)
		}
	})
}

func good1() []byte {
	return ardp.Packet{ID: 0x4102, Number: 1, Total: 1, Data: []byte("the reply")}.Append(nil)
}

// TestOtherVersion: the client switches to version 1 once, if the server
// requires it.
func TestOtherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, request, faultnet.Packets{Answer: func(b []byte) [][]byte {
			if p, err := ardp.Parse(b); err != nil || p.Version != 1 {
				return [][]byte{{0, 1}, {0, 1}}
			}
			return [][]byte{ardp.Packet{Version: 1, ID: 0x4102, Number: 1, Total: 1, Data: []byte("yes")}.Append(nil)}
		}})
		if got.err != nil || got.reply != "yes" || len(got.sent) != 2 {
			t.Errorf("got %q, %v, sent %q", got.reply, got.err, got.sent)
		}
	})
}

// TestLongRequest: a request of many packets is reassembled, and only missing
// packets are sent again.
func TestLongRequest(t *testing.T) {
	long := "DIRECTORY ASCII D\nLIST '' COMPONENTS '" + strings.Repeat("x", 5000) + "'\n"
	for name, fates := range map[string]faultnet.Fates{"well": nil, "one lost": faultnet.Nth(faultnet.Drop, 3), "out of order": faultnet.Nth(faultnet.Late, 1, 3)} {
		synctest.Test(t, func(t *testing.T) {
			got := ask(t, long, faultnet.Packets{Answer: dirsrv().Answer, Requests: fates})
			if got.err != nil || got.reply != "NONE-FOUND\n" || got.took > 4*time.Second {
				t.Errorf("%s: got %q, %v after %v", name, got.reply, got.err, got.took)
			}
			for _, b := range got.sent {
				if p, err := ardp.Parse(b); err != nil || p.ID != 0x4102 || p.Total != 5 && p.Number != 0 || len(p.Data) > 1250 {
					t.Errorf("%s: sent %+v, %v", name, p, err)
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if got := ask(t, strings.Repeat("x", 30000), faultnet.Packets{}); got.err != ardp.ErrTooLong || got.sent != nil {
			t.Errorf("too long: %v, sent %d", got.err, len(got.sent))
		}
	})
}

// TestFlood: a server that sends far ahead or repeats packets forever causes no
// memory growth and no additional acknowledgements.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once bool
		got := ask(t, request, faultnet.Packets{Answer: func([]byte) (out [][]byte) {
			if once {
				return nil
			}
			once = true
			for n := range uint16(20000) {
				out = append(out, ardp.Packet{ID: 0x4102, Number: n + 2, Data: make([]byte, 1000)}.Append(nil))
			}
			return out
		}})
		if got.err == nil || len(got.sent) > 6 {
			t.Errorf("%v, sent %d", got.err, len(got.sent))
		}
	})
}

// TestUnreachable: a real socket reports a port without a server.
func TestUnreachable(t *testing.T) {
	l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	conn, err := net.Dial("udp", l.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := ardp.New(conn, []byte(request), ardp.Options{})
	if err == nil {
		_, err = io.ReadAll(c)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

// TestLoopback replays the recorded server over real sockets.
func TestLoopback(t *testing.T) {
	s := faultnet.ListenPackets(t, faultnet.Packets{Answer: prospertest.Dirsrv(t).Answer})
	conn, err := net.Dial("udp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := ardp.New(conn, []byte("DIRECTORY ASCII AFTP/pub/many\nLIST '' COMPONENTS\n"), ardp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(c); err != nil || bytes.Count(b, []byte("\n")) != 200 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
