package sessions

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/wire/line"
)

// TestConn tests the bytes on the connection and in the Trace, with and without
// TLS.
func TestConn(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	hello := faultnet.Send("220 hello\r\n")
	agree := []faultnet.Step{hello, faultnet.Expect("^AUTH TLS\r\n$"), faultnet.Send("234 go on\r\n")}
	dialog := []faultnet.Step{faultnet.Expect("^USER bob\r\nPASS s3cret\r\n$"), faultnet.Send("230 in\r\n"), faultnet.Expect("^QUIT\r\n$")}
	for _, c := range []struct {
		name   string
		script []faultnet.Step
		secure bool
		want   fetch.Fault
		sent   string
		got    string
	}{
		{"plaintext", append([]faultnet.Step{hello}, dialog...), false, 0, "USER bob\r\nPASS ***\r\n", "220 hello\r\n230 in\r\n"},
		{"TLS", append(append(agree, certs.TLS()), dialog...), true, 0, "AUTH TLS\r\nUSER bob\r\nPASS ***\r\n", "220 hello\r\n234 go on\r\n230 in\r\n"},
		{"plaintext after the agreement", []faultnet.Step{hello, faultnet.Expect("^AUTH TLS\r\n$"), faultnet.Send("234 go on\r\n230 in\r\n"), faultnet.Stall()},
			true, fetch.TLS, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n230 in\r\n"},
		{"untrusted", append(agree, certs.SelfSigned()), true, fetch.TLS, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n"},
		{"connection cut", append(agree, faultnet.TLSCut()), true, fetch.Connect, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:21", c.script)
				netConn, err := n.Dial(t.Context(), "tcp", netip.MustParseAddrPort("192.0.2.1:21"))
				if err != nil {
					t.Fatal(err)
				}
				var sent, got strings.Builder
				handshakes := 0
				trace := &trace.Trace{
					Sent:     func(p []byte) { sent.Write(p) },
					Received: func(p []byte) { got.Write(p) },
					Phase:    func(trace.Phase, net.Conn) { handshakes++ },
				}
				text := NewText(NewConn(netConn, trace, "QUIT\r\n"), nil)
				err = runDialog(t, text, c.secure, &tls.Config{RootCAs: certs.Pool})
				if fetch.FaultOf(err) != c.want || text.IsBroken() != (c.want != 0) {
					t.Errorf("got %v, want %v; broken: %v", err, c.want, text.IsBroken())
				}
				if (handshakes == 1) != (c.secure && c.want == 0) || (text.TLS != nil) != (handshakes == 1) {
					t.Errorf("handshake was reported %d times", handshakes)
				}
				text.Close()
				if sent.String() != c.sent || got.String() != c.got {
					t.Errorf("trace has sent %q and got %q, want %q and %q", sent.String(), got.String(), c.sent, c.got)
				}
				synctest.Wait()
				s.Close()
				if err := s.Err(); err != nil && c.want == 0 {
					t.Error(err)
				}
			})
		})
	}
}

func runDialog(t *testing.T, text *Text, secure bool, config *tls.Config) error {
	replies := func() error {
		text.SetReplyTimeout(ReplyTimeout)
		_, err := text.Lines.ReadReply()
		return err
	}
	if err := replies(); err != nil {
		return err
	}
	if secure {
		if err := errors.Join(text.AddCommand("AUTH", "TLS"), text.Flush(), replies()); err != nil {
			return err
		}
		if err := text.Encrypt(t.Context(), config, "192.0.2.1"); err != nil {
			return err
		}
	}
	return errors.Join(text.AddCommand("USER", "bob"), text.AddSecretCommand("PASS", "s3cret"), text.Flush(), replies())
}

// TestSessionStates tests the results of Stale and Release after changes of
// state.
func TestSessionStates(t *testing.T) {
	for _, c := range []struct {
		name         string
		change       func(*Conn)
		stale, again bool
	}{
		{"unused", func(*Conn) {}, false, true},
		{"broken when new", (*Conn).Break, false, false},
		{"claimed", func(c *Conn) { c.Claim(nil) }, false, true},
		{"broken when claimed", func(c *Conn) { c.Claim(nil); c.Break() }, true, false},
		{"broken after an answer", func(c *Conn) { c.Claim(nil); c.MarkAnswered(); c.Break() }, false, false},
		{"aborted when claimed", func(c *Conn) { c.Claim(nil); c.Abort() }, true, false},
		{"closed", func(c *Conn) { c.Close() }, false, false},
	} {
		local, remote := net.Pipe()
		remote.Close()
		conn := NewConn(local, nil, "QUIT\r\n")
		if c.change(conn); conn.Stale() != c.stale || conn.Release() != c.again {
			t.Errorf("%s: stale %v, want %v; again %v, want %v", c.name, conn.Stale(), c.stale, !c.again, c.again)
		}
		local.Close()
	}
}

// TestReplyTimeout tests that a read fails after the timeout, and that zero
// removes an earlier timeout.
func TestReplyTimeout(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits []time.Duration // of successive calls
		fails  bool
	}{
		{"a limit", []time.Duration{time.Second}, true},
		{"no limit", []time.Duration{0}, false},
		{"a removed limit", []time.Duration{time.Second, 0}, false},
		{"a limit that is long enough", []time.Duration{time.Second, 3 * time.Second}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			local, remote := net.Pipe()
			defer local.Close()
			time.AfterFunc(2*time.Second, func() { remote.Write([]byte("x")); remote.Close() })
			conn := NewConn(local, nil, "")
			for _, limit := range c.limits {
				conn.SetReplyTimeout(limit)
			}
			if _, err := conn.Read(make([]byte, 1)); (err != nil) != c.fails {
				t.Errorf("%s: got %v", c.name, err)
			}
			local.Close() // ends a Write that waits
		})
	}
}

// TestTraceOfNothing tests that a Trace receives no empty texts.
func TestTraceOfNothing(t *testing.T) {
	local, remote := net.Pipe()
	defer local.Close()
	go func() {
		io.CopyN(io.Discard, remote, 4)
		remote.Close()
	}()
	report := func(p []byte) {
		if len(p) == 0 {
			t.Error("reported nothing")
		}
	}
	conn := NewConn(local, &trace.Trace{Sent: report, Received: report}, "")
	if err := conn.Send([]byte("NOOP"), nil); err != nil { // a command that the trace must not show
		t.Error(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("got %d, %v", n, err)
	}
}

// TestStart tests that a session is closed if its handshake fails.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{{"ready", nil, ""}, {"failed", fetch.Auth, "QUIT\r\n"}} {
		local, remote := net.Pipe()
		received := make(chan string)
		go func() {
			remote.SetReadDeadline(time.Now().Add(time.Minute))
			text, _ := io.ReadAll(remote)
			received <- string(text)
		}()
		s, err := Start(t.Context(), NewConn(local, nil, "QUIT\r\n"), func() error { return c.err })
		if err != c.err || (s == nil) != (err != nil) {
			t.Errorf("%s: got %v, %v", c.name, s, err)
		}
		local.Close()
		if got := <-received; got != c.want {
			t.Errorf("%s: received %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzText checks that each command is one line, that the Trace masks secrets,
// and that unsafe words are not sent.
func FuzzText(f *testing.F) {
	f.Add("RETR", "a b", "s3cret")
	f.Add("CWD", "", "x\r\nDELE y")
	f.Add("CWD", "a\nb", "")
	f.Fuzz(func(t *testing.T, verb, arg, secret string) {
		local, remote := net.Pipe()
		remote.Close()
		defer local.Close()
		var out recorder
		var shown bytes.Buffer
		c := NewConn(local, &trace.Trace{Sent: func(p []byte) { shown.Write(p) }}, "")
		c.Stream = &out
		text := NewText(c, nil)
		lines := 0
		if text.AddCommand(verb, arg) == nil {
			lines++
		}
		open := shown.String()
		if text.AddSecretCommand("PASS", secret) == nil {
			lines++
		}
		text.Flush()
		sent := out.String()
		if strings.Count(sent, "\n") != lines || strings.Count(sent, "\r") != lines || strings.Count(shown.String(), "\n") != lines {
			t.Errorf("%d commands: sent %q, shown %q", lines, sent, shown.String())
		}
		if open != "" || len(sent) > 2*line.MaxCommand {
			t.Errorf("shown before Flush: %q; %d bytes", open, len(sent))
		}
		if _, masked, _ := strings.Cut(shown.String(), "PASS "); strings.HasSuffix(sent, "PASS "+secret+"\r\n") && !strings.HasSuffix(masked, "***\r\n") {
			t.Errorf("shown %q", shown.String())
		}
	})
}

type recorder struct {
	net.Conn
	bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) { return r.Buffer.Write(p) }
func (r *recorder) Read(p []byte) (int, error)  { return r.Buffer.Read(p) }

// A keyNet is a Net that implements only Key.
type keyNet struct {
	fetch.Net
	key string
}

func (g keyNet) Key(context.Context) string { return g.key }

// TestKey tests that requests with any relevant difference have different keys.
func TestKey(t *testing.T) {
	seen := map[string]int{}
	host := fetch.Target{Host: "h", Port: 21}
	for i, key := range []string{
		Key(t.Context(), keyNet{key: "typed"}, host, nil),
		Key(t.Context(), keyNet{key: "from public"}, host, nil),
		Key(t.Context(), keyNet{key: "typed"}, fetch.Target{Host: "h", Port: 990}, nil),
		Key(t.Context(), keyNet{key: "typed"}, host, nil, "true"),
		Key(t.Context(), keyNet{key: "typed"}, host, nil, "false"),
		Key(t.Context(), keyNet{key: "typed"}, host, &fetch.Credential{}),
		Key(t.Context(), keyNet{key: "typed"}, host, &fetch.Credential{User: "u"}),
		Key(t.Context(), keyNet{key: "typed"}, host, &fetch.Credential{Password: "u"}),
		Key(t.Context(), keyNet{key: "typed"}, host, &fetch.Credential{Account: "u"}),
		Key(t.Context(), keyNet{key: "typed"}, host, &fetch.Credential{Token: "u"}),
	} {
		if other, ok := seen[key]; ok {
			t.Errorf("requests %d and %d have the same key %q", other, i, key)
		}
		seen[key] = i
	}
}
