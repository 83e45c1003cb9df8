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
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/line"
)

// TestConn: what a server hears and a Trace reports, over a plain connection
// and after the upgrade to TLS.
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
		{"plaintext behind the agreement", []faultnet.Step{hello, faultnet.Expect("^AUTH TLS\r\n$"), faultnet.Send("234 go on\r\n230 in\r\n"), faultnet.Stall()},
			true, fetch.TLS, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n230 in\r\n"},
		{"untrusted", append(agree, certs.SelfSigned()), true, fetch.TLS, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n"},
		{"cut", append(agree, faultnet.TLSCut()), true, fetch.Connect, "AUTH TLS\r\n", "220 hello\r\n234 go on\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:21", c.script)
				door, err := n.Dial(t.Context(), "tcp", netip.MustParseAddrPort("192.0.2.1:21"))
				if err != nil {
					t.Fatal(err)
				}
				var sent, got strings.Builder
				secured := 0
				trace := &fetch.Trace{
					Sent:     func(p []byte) { sent.Write(p) },
					Received: func(p []byte) { got.Write(p) },
					Phase:    func(fetch.Phase, net.Conn) { secured++ },
				}
				text := NewText(NewConn(door, trace, "QUIT\r\n"), nil)
				err = converse(t, text, c.secure, &tls.Config{RootCAs: certs.Pool})
				if fetch.FaultOf(err) != c.want || text.IsBroken() != (c.want != 0) {
					t.Errorf("got %v, want %v; broken: %v", err, c.want, text.IsBroken())
				}
				if (secured == 1) != (c.secure && c.want == 0) || (text.TLS != nil) != (secured == 1) {
					t.Errorf("Secured was reported %d times", secured)
				}
				text.Close()
				if sent.String() != c.sent || got.String() != c.got {
					t.Errorf("the trace heard %q and %q, want %q and %q", sent.String(), got.String(), c.sent, c.got)
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

func converse(t *testing.T, text *Text, secure bool, config *tls.Config) error {
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

// TestStates: which sessions are stale and which accept another request.
func TestStates(t *testing.T) {
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
		near, far := net.Pipe()
		far.Close()
		conn := NewConn(near, nil, "QUIT\r\n")
		if c.change(conn); conn.Stale() != c.stale || conn.Release() != c.again {
			t.Errorf("%s: stale %v, want %v; again %v, want %v", c.name, conn.Stale(), c.stale, !c.again, c.again)
		}
		near.Close()
	}
}

// TestEnter: a session that does not become ready is closed.
func TestEnter(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{{"ready", nil, ""}, {"refused", fetch.Auth, "QUIT\r\n"}} {
		near, far := net.Pipe()
		heard := make(chan string)
		go func() {
			far.SetReadDeadline(time.Now().Add(time.Minute))
			text, _ := io.ReadAll(far)
			heard <- string(text)
		}()
		s, err := Start(t.Context(), NewConn(near, nil, "QUIT\r\n"), func() error { return c.err })
		if err != c.err || (s == nil) != (err != nil) {
			t.Errorf("%s: got %v, %v", c.name, s, err)
		}
		near.Close()
		if got := <-heard; got != c.want {
			t.Errorf("%s: heard %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzText: whatever the words, each command is one line, the Trace never
// reports a secret, and an unsafe word sends nothing.
func FuzzText(f *testing.F) {
	f.Add("RETR", "a b", "s3cret")
	f.Add("CWD", "", "x\r\nDELE y")
	f.Add("CWD", "a\nb", "")
	f.Fuzz(func(t *testing.T, verb, arg, secret string) {
		near, far := net.Pipe()
		far.Close()
		defer near.Close()
		var out recorder
		var shown bytes.Buffer
		c := NewConn(near, &fetch.Trace{Sent: func(p []byte) { shown.Write(p) }}, "")
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

// grants is a Net of which only Key is called.
type grants struct {
	fetch.Net
	key string
}

func (g grants) Key(context.Context) string { return g.key }

// TestKey: requests that differ in anything that counts share no session.
func TestKey(t *testing.T) {
	seen := map[string]int{}
	host := fetch.Target{Host: "h", Port: 21}
	for i, key := range []string{
		Key(t.Context(), grants{key: "typed"}, host, nil),
		Key(t.Context(), grants{key: "from public"}, host, nil),
		Key(t.Context(), grants{key: "typed"}, fetch.Target{Host: "h", Port: 990}, nil),
		Key(t.Context(), grants{key: "typed"}, host, nil, "true"),
		Key(t.Context(), grants{key: "typed"}, host, nil, "false"),
		Key(t.Context(), grants{key: "typed"}, host, &fetch.Credential{}),
		Key(t.Context(), grants{key: "typed"}, host, &fetch.Credential{User: "u"}),
		Key(t.Context(), grants{key: "typed"}, host, &fetch.Credential{Password: "u"}),
		Key(t.Context(), grants{key: "typed"}, host, &fetch.Credential{Account: "u"}),
		Key(t.Context(), grants{key: "typed"}, host, &fetch.Credential{Token: "u"}),
	} {
		if other, ok := seen[key]; ok {
			t.Errorf("requests %d and %d have the same key %q", other, i, key)
		}
		seen[key] = i
	}
}
