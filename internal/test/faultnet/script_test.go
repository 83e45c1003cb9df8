package faultnet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// A world starts servers and returns a function that connects to each.
type world struct {
	name  string
	start func(t *testing.T, scripts ...Script) peer
	run   func(t *testing.T, f func(t *testing.T))
}

type peer struct {
	*Server
	dial func(context.Context) (net.Conn, error)
}

// each runs a test in memory and on loopback, and checks that no goroutine is
// left.
func each(t *testing.T, f func(t *testing.T, w world)) {
	for _, w := range []world{
		{"memory", inMemory, func(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }},
		{"loopback", onLoopback, func(t *testing.T, f func(t *testing.T)) {
			before := goleak.IgnoreCurrent()
			t.Run("", f)
			goleak.VerifyNone(t, before)
		}},
	} {
		t.Run(w.name, func(t *testing.T) { w.run(t, func(t *testing.T) { f(t, w) }) })
	}
}

func inMemory(t *testing.T, scripts ...Script) peer {
	n := NewNetwork(t)
	s := n.Serve("192.0.2.1:70", scripts...)
	return peer{s, func(ctx context.Context) (net.Conn, error) { return n.Dial(ctx, "tcp", s.Addr()) }}
}

func onLoopback(t *testing.T, scripts ...Script) peer {
	s := Listen(t, scripts...)
	return peer{s, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.Addr().String())
	}}
}

func (p peer) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := p.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestVerbs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "motd")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	entity := func() *Entity { return NewEntity("first version", "second") }
	for _, c := range []struct {
		name   string
		script func() Script
		say    string
		hear   string
		end    error         // io.EOF: the end of the stream
		took   time.Duration // at least; exact in memory
		bad    string        // the text of Server.Err
	}{
		{"accept", func() Script { return nil }, "", "", io.EOF, 0, ""},
		{"send", func() Script { return Script{Send("a"), Send("b")} }, "", "ab", io.EOF, 0, ""},
		{"send file", func() Script { return Script{SendFile(file)} }, "", "from a file\n", io.EOF, 0, ""},
		{"send bytes", func() Script { return Script{SendBytes(20)} }, "", "00000000000000\r\n0000", io.EOF, 0, ""},
		{"send slow", func() Script { return Script{SendSlow("abcde", 2, 20*time.Millisecond)} }, "", "abcde", io.EOF, 40 * time.Millisecond, ""},
		{"delay", func() Script { return Script{Delay(30 * time.Millisecond), Send("a")} }, "", "a", io.EOF, 30 * time.Millisecond, ""},
		{"stall", func() Script { return Script{Send("a"), Stall()} }, "", "a", os.ErrDeadlineExceeded, 200 * time.Millisecond, ""},
		{"reset", func() Script { return Script{Expect("x"), Send("a"), Delay(10 * time.Millisecond), Reset()} }, "x", "a", syscall.ECONNRESET, 10 * time.Millisecond, ""},
		{"fin", func() Script { return Script{Send("a"), Fin(), Send("never")} }, "", "a", io.EOF, 0, ""},
		{"cut", func() Script { return Script{Send("a"), Cut(), Send("never")} }, "", "a", io.EOF, 0, ""},
		{"half close", func() Script { return Script{Send("a"), HalfClose(), Expect("^x$")} }, "x", "a", io.EOF, 0, ""},
		{"garbage", func() Script { return Script{Garbage(4)} }, "", "\x86\xad\x05\xdc", io.EOF, 0, ""},
		{"expect", func() Script { return Script{Expect(`^GET [^\r]*\r\n`), Expect(`\r\n$`), Send("a")} }, "GET /\r\n\r\n", "a", io.EOF, 0, ""},
		{"expect in vain", func() Script { return Script{Expect(`^PUT `)} }, "GET /\r\n", "", io.EOF, 0, `connection 1: expect ^PUT : client sent "GET /\r\n": EOF`},
		{"entity", func() Script {
			e := entity()
			return Script{e.Send(0), e.Swap(), e.Send(3), e.Swap(), e.Send(0)}
		}, "", "first version" + "ond" + "second", io.EOF, 0, ""},
		{"restart", func() Script { return Script{Send("a"), Restart(time.Millisecond), Send("never")} }, "", "a", io.EOF, 0, ""},
		{"do", func() Script {
			return Script{Do("own", func(c *Conn) error {
				line, err := c.ReadLine()
				fmt.Fprintf(c, "%d %q %v", c.Nth, line, err)
				return errors.New("broken")
			})}
		}, "x\r\n", `1 "x\r\n" <nil>`, io.EOF, 0, "connection 1: own: broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, w world) {
				s := w.start(t, c.script())
				start := time.Now()
				conn := s.connect(t)
				io.WriteString(conn, c.say)
				if c.bad != "" && c.hear == "" {
					conn.(interface{ CloseWrite() error }).CloseWrite()
				}
				begun := make([]byte, len(c.hear)) // even on a busy machine
				n, err := io.ReadFull(conn, begun)
				hear := begun[:n]
				if err == nil {
					if c.end == os.ErrDeadlineExceeded {
						conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
					}
					var rest []byte
					rest, err = io.ReadAll(conn)
					hear = append(hear, rest...)
				}
				if string(hear) != c.hear || c.end == io.EOF && err != nil || c.end != io.EOF && !errors.Is(err, c.end) {
					t.Errorf("heard %q, %v, want %q, %v", hear, err, c.hear, c.end)
				}
				if took := time.Since(start); took < c.took || w.name == "memory" && took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				conn.Close()
				if got := string(s.Conns()[0].All()); got != c.say {
					t.Errorf("record %q, want %q", got, c.say)
				}
				s.Close()
				if err := s.Err(); (err == nil) != (c.bad == "") || err != nil && err.Error() != c.bad {
					t.Errorf("error %v, want %q", err, c.bad)
				}
			})
		})
	}
}

func TestRefuseAndBlackhole(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		s := w.start(t, Script{Refuse()})
		if conn, err := s.dial(ctx); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refuse: %v, %v", conn, err)
		}
		start := time.Now()
		conn, err := w.start(t, Script{Blackhole()}).dial(ctx)
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("blackhole: %v, %v", conn, err)
		}
		if took := time.Since(start); w.name == "memory" && took != 300*time.Millisecond {
			t.Errorf("blackhole took %v", took)
		}
		if n := len(s.Conns()); n != 0 {
			t.Errorf("%d connections", n)
		}
		s.Close()
	})
}

func TestScriptsInOrder(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		s := w.start(t, Script{Send("one")}, Script{Send("two")})
		for i, want := range []string{"one", "two", "two"} {
			conn := s.connect(t)
			if got, err := io.ReadAll(conn); string(got) != want || err != nil {
				t.Errorf("connection %d: %q, %v", i, got, err)
			}
		}
		if n := len(s.Conns()); n != 3 || s.Conns()[2].Nth != 3 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestRestart ends the connections, refuses new ones for a time, and then runs
// the next script at the same address.
func TestRestart(t *testing.T) {
	const down = 100 * time.Millisecond
	each(t, func(t *testing.T, w world) {
		s := w.start(t, Script{Stall()}, Script{Restart(down)}, Script{Send("back")})
		waiting := s.connect(t)
		began := time.Now()
		if _, err := s.connect(t).Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the connection that restarts: %v", err)
		}
		if _, err := waiting.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the other connection: %v", err)
		}
		switch conn, err := s.dial(t.Context()); {
		case err == nil && time.Since(began) >= down: // on a busy machine the server may be back already
			conn.Close()
		case !errors.Is(err, syscall.ECONNREFUSED):
			t.Errorf("while down: %v, %v", conn, err)
		}
		var conn net.Conn
		for start := time.Now(); ; time.Sleep(down / 10) { // a real listener gives no other signal
			var err error
			if conn, err = s.dial(t.Context()); err == nil {
				break
			}
			if time.Since(start) > 20*down {
				t.Fatal(err)
			}
		}
		if got, err := io.ReadAll(conn); string(got) != "back" || err != nil {
			t.Errorf("after the restart: %q, %v", got, err)
		}
		conn.Close()
	})
}

func TestLines(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		script := Script{Send("220 hi\r\n"), Lines(
			On("^RETR", 1, Send("150 "), Reset()),
			On("^RETR", 0, Send("550 no\r\n")),
			On("^NOOP$", 2, Send("200 two\r\n")),
			On("^NOOP$", 0, Send("200 ok\r\n")),
			On("^QUIT$", 0, Send("221 bye\r\n"), Fin()),
		)}
		s := w.start(t, script)
		say := func(conn net.Conn, r *bufio.Reader, line, want string) {
			t.Helper()
			io.WriteString(conn, line)
			if got, err := r.ReadString('\n'); got != want {
				t.Errorf("after %q: %q, %v, want %q", line, got, err, want)
			}
		}
		first := s.connect(t)
		r := bufio.NewReader(first)
		say(first, r, "", "220 hi\r\n")
		say(first, r, "NOOP\r\n", "200 ok\r\n")
		say(first, r, "NOOP\n", "200 two\r\n")
		say(first, r, "RETR a\r\n", "150 ")
		second := s.connect(t)
		r = bufio.NewReader(second)
		say(second, r, "", "220 hi\r\n")
		say(second, r, "NOOP\r\n", "200 ok\r\n")
		say(second, r, "RETR a\r\n", "550 no\r\n")
		say(second, r, "QUIT\r\n", "221 bye\r\n")
		say(second, r, "", "")
		third := s.connect(t)
		r = bufio.NewReader(third)
		say(third, r, "", "220 hi\r\n")
		say(third, r, "STOR a\r\n", "")
		for _, c := range []net.Conn{first, second, third} {
			c.Close()
		}
		s.Close()
		if err := s.Err(); err == nil || err.Error() != `connection 3: lines: nothing is hooked to "STOR a"` {
			t.Errorf("error %v", err)
		}
		if got := string(s.Conns()[1].All()); got != "NOOP\r\nRETR a\r\nQUIT\r\n" {
			t.Errorf("record %q", got)
		}
	})
}

func TestBody(t *testing.T) {
	all, err := io.ReadAll(Body(1 << 16))
	if err != nil || len(all) != 1<<16 {
		t.Fatal(len(all), err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(all)) {
		if seen[line] || len(line) != 16 {
			t.Fatalf("line %q", line)
		}
		seen[line] = true
	}
}
