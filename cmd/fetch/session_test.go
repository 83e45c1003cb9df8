package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/racingmars/go3270"
)

// TestSessionEnds checks the exit code for each way in which a session in a
// pipe ends. The end of standard input does not end the session.
func TestSessionEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		script faultnet.Script
		args   []string
		want   string
		code   int
	}{
		{"closed by the server", faultnet.Script{faultnet.Expect("hi\n"), faultnet.Send("bye")}, nil, "bye", 0},
		{"idle timeout", faultnet.Script{faultnet.Send("a"), faultnet.Stall()}, []string{"--idle", "0.3"}, "a", 0},
		{"time limit", faultnet.Script{faultnet.Send("a"), faultnet.Stall()}, []string{"--max-time", "0.5"}, "a", 4},
		{"size limit", faultnet.Script{faultnet.SendBytes(1 << 20)}, []string{"--max-filesize", "1000"},
			strings.Repeat("x", 1000), 10},
		{"reset without a retry", faultnet.Script{faultnet.Expect("hi\n"), faultnet.Send("a"), faultnet.Reset()},
			[]string{"--retry", "3"}, "a", 4},
		{"connection refused", faultnet.Script{faultnet.Refuse()}, nil, "", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := faultnet.Listen(t, test.script)
			var out, stderr bytes.Buffer
			args := append([]string{"--no-config", "--retry", "0"}, test.args...)
			code := app.Run(append(args, "telnet://"+s.Addr().String()), strings.NewReader("hi\n"), &out, &stderr)
			if code != test.code || out.Len() != len(test.want) || test.code != 10 && out.String() != test.want {
				t.Errorf("exit code %d, %.50q of %d bytes, want %d, %.50q: %s", code, &out, out.Len(), test.code,
					test.want, &stderr)
			}
			if n := len(s.Conns()); n > 1 {
				t.Errorf("got %d connections, want at most 1", n)
			}
		})
	}
	// A redirect to a session is denied.
	s := faultnet.Listen(t, faultnet.Script{faultnet.Refuse()})
	page := httptest.NewServer(http.RedirectHandler("telnet://"+s.Addr().String()+"/", http.StatusFound))
	defer page.Close()
	runFetch(t, 9, page.URL)
	if n := len(s.Conns()); n > 0 {
		t.Errorf("got %d connections, want none", n)
	}
	for url, want := range map[string]int{"telnet://a%0d%0ab@127.0.0.1:2323/": 2, "telnet://127.0.0.1:2323/path": 2,
		"telnet://127.0.0.1:25": 9, "rlogin://127.0.0.1:5513": 2} {
		runFetch(t, want, url)
	}
}

// A promptedReader is the standard input of a session. It waits until the
// server has sent prompt, because some servers discard earlier input.
type promptedReader struct {
	bytes.Buffer
	ready  chan struct{}
	typed  io.Reader
	prompt string // text that the server sends
}

func (p *promptedReader) Write(b []byte) (int, error) {
	n, err := p.Buffer.Write(b)
	if bytes.Contains(p.Bytes(), []byte(p.prompt)) {
		select {
		case <-p.ready:
		default:
			close(p.ready)
		}
	}
	return n, err
}

func (p *promptedReader) typing() io.Reader {
	return readerFunc(func(b []byte) (int, error) { <-p.ready; return p.typed.Read(b) })
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestTelnet runs a session with telnetd in a pipe. The session requests binary
// mode, in which CR LF would be two line ends. The script ends with read,
// because telnetd may lose the last output of a script.
func TestTelnet(t *testing.T) {
	s := peer.Telnetd(t, peer.TelnetdOptions{Script: "echo hello; read line; echo got $line; read line"})
	p := &promptedReader{ready: make(chan struct{}), typed: strings.NewReader("word\n"), prompt: "hello"}
	bye := &promptedReader{ready: make(chan struct{}), typed: strings.NewReader("bye\n"), prompt: "got word"}
	var stderr bytes.Buffer
	args := []string{"--no-config", "--idle", "20", "telnet://" + s.Addr + "/"}
	if code := app.Run(args, io.MultiReader(p.typing(), bye.typing()), io.MultiWriter(p, bye), &stderr); code != 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	contains(t, p.String(), "hello", "got word")
}

// TestRlogin logs in to in.rlogind, which requires a privileged source port.
func TestRlogin(t *testing.T) {
	s := peer.Rlogind(t)
	p := &promptedReader{ready: make(chan struct{}), typed: strings.NewReader(peer.Password + "\r"), prompt: "assword"}
	shell := &promptedReader{ready: make(chan struct{}), typed: strings.NewReader("echo $((6*7)) $TERM; exit\r"),
		prompt: "$ "}
	var stderr bytes.Buffer
	args := []string{"--no-config", "--idle", "20", "--terminal", "DUMB", "rlogin://" + peer.User + "@" + s.Addr}
	if code := app.Run(args, io.MultiReader(p.typing(), shell.typing()), io.MultiWriter(p, shell), &stderr); code != 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	contains(t, shell.String(), "42 dumb")
	contains(t, stderr.String(), "rlogin session with 127.0.0.1, port ", "log in as "+peer.User)
}

// TestTN3270 reads a screen of a go3270 server.
func TestTN3270(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			if _, err := go3270.NegotiateTelnet(conn); err == nil {
				go3270.ShowScreenOpts(go3270.Screen{{Row: 1, Content: "[Name]"},
					{Row: 1, Col: 10, Name: "n", Write: true, Content: "Ada"}}, nil, conn,
					go3270.ScreenOpts{NoResponse: true})
			}
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	url := "tn3270://" + ln.Addr().String()
	if got := runFetch(t, 0, "--code-page", "1047", url); got != "\n [Name]    Ada\n" {
		t.Errorf("got %q", got)
	}
	contains(t, runFetch(t, 0, "--screen", "json", url), `"text":"Ada"`, `"row":2,"col":12`)
	runFetch(t, 2, "--screen", "xml", url)
	runFetch(t, 2, "--code-page", "1252", url)
}
