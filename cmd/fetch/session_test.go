package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/racingmars/go3270"
)

// TestSessionEnds: what ends a session in a pipe, and how that is told. The end
// of standard input is none of it.
func TestSessionEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		script faultnet.Script
		args   []string
		want   string
		code   int
	}{
		{"the peer closes", faultnet.Script{faultnet.Expect("hi\n"), faultnet.Send("bye")}, nil, "bye", 0},
		{"nothing comes", faultnet.Script{faultnet.Send("a"), faultnet.Stall()}, []string{"--idle", "0.3"}, "a", 0},
		{"its time is over", faultnet.Script{faultnet.Send("a"), faultnet.Stall()}, []string{"--max-time", "0.5"}, "a", 4},
		{"more than wanted", faultnet.Script{faultnet.SendBytes(1 << 20)}, []string{"--max-filesize", "1000"}, strings.Repeat("x", 1000), 10},
		{"reset, and not begun anew", faultnet.Script{faultnet.Expect("hi\n"), faultnet.Send("a"), faultnet.Reset()}, []string{"--retry", "3"}, "a", 4},
		{"it refuses", faultnet.Script{faultnet.Refuse()}, nil, "", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := faultnet.Listen(t, test.script)
			var out, said bytes.Buffer
			args := append([]string{"--no-config", "--retry", "0"}, test.args...)
			if code := run(append(args, "telnet://"+s.Addr().String()), strings.NewReader("hi\n"), &out, &said); code != test.code || out.Len() != len(test.want) || test.code != 10 && out.String() != test.want {
				t.Errorf("exit code %d, %.50q of %d bytes, want %d, %.50q: %s", code, &out, out.Len(), test.code, test.want, &said)
			}
			if n := len(s.Conns()); n > 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
	// Nobody is led into a session.
	s := faultnet.Listen(t, faultnet.Script{faultnet.Refuse()})
	page := httptest.NewServer(http.RedirectHandler("telnet://"+s.Addr().String()+"/", http.StatusFound))
	defer page.Close()
	fetchAs(t, 9, page.URL)
	if n := len(s.Conns()); n > 0 {
		t.Errorf("%d connections", n)
	}
	for url, want := range map[string]int{"telnet://a%0d%0ab@127.0.0.1:2323/": 2, "telnet://127.0.0.1:2323/path": 2, "telnet://127.0.0.1:25": 9, "rlogin://127.0.0.1:5513": 2} {
		fetchAs(t, want, url)
	}
}

// prompted is standard input: a person who types once the peer has said
// something, for a terminal that is being set up drops what comes before.
type prompted struct {
	bytes.Buffer
	heard chan struct{}
	typed io.Reader
	mark  string // what the peer says
}

func (p *prompted) Write(b []byte) (int, error) {
	n, err := p.Buffer.Write(b)
	if bytes.Contains(p.Bytes(), []byte(p.mark)) {
		select {
		case <-p.heard:
		default:
			close(p.heard)
		}
	}
	return n, err
}

func (p *prompted) typing() io.Reader {
	return readerFunc(func(b []byte) (int, error) { <-p.heard; return p.typed.Read(b) })
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestTelnet talks to a real telnetd in a pipe. It asks for binary, where CR LF
// would be two lines. What a program says that ends at once telnetd may lose:
// ours waits for another line.
func TestTelnet(t *testing.T) {
	s := peer.Telnetd(t, peer.TelnetdOptions{Script: "echo hello; read line; echo got $line; read line"})
	p := &prompted{heard: make(chan struct{}), typed: strings.NewReader("word\n"), mark: "hello"}
	bye := &prompted{heard: make(chan struct{}), typed: strings.NewReader("bye\n"), mark: "got word"}
	var said bytes.Buffer
	args := []string{"--no-config", "--idle", "20", "telnet://" + s.Addr + "/"}
	if code := run(args, io.MultiReader(p.typing(), bye.typing()), io.MultiWriter(p, bye), &said); code != 0 {
		t.Errorf("exit code %d: %s", code, &said)
	}
	contains(t, p.String(), "hello", "got word")
}

// TestRlogin logs in to a real in.rlogind, which hangs up on ports of anybody.
func TestRlogin(t *testing.T) {
	s := peer.Rlogind(t)
	p := &prompted{heard: make(chan struct{}), typed: strings.NewReader(peer.Password + "\r"), mark: "assword"}
	shell := &prompted{heard: make(chan struct{}), typed: strings.NewReader("echo $((6*7)) $TERM; exit\r"), mark: "$ "}
	var said bytes.Buffer
	args := []string{"--no-config", "--idle", "20", "--terminal", "DUMB", "rlogin://" + peer.User + "@" + s.Addr}
	if code := run(args, io.MultiReader(p.typing(), shell.typing()), io.MultiWriter(p, shell), &said); code != 0 {
		t.Errorf("exit code %d: %s", code, &said)
	}
	contains(t, shell.String(), "42 dumb")
	contains(t, said.String(), "rlogin session with 127.0.0.1, port ", "log in as "+peer.User)
}

// TestTN3270 reads the screen of a real go3270 host.
func TestTN3270(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			if _, err := go3270.NegotiateTelnet(conn); err == nil {
				go3270.ShowScreenOpts(go3270.Screen{{Row: 1, Content: "[Name]"}, {Row: 1, Col: 10, Name: "n", Write: true, Content: "Ada"}}, nil, conn, go3270.ScreenOpts{NoResponse: true})
			}
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	url := "tn3270://" + ln.Addr().String()
	if got := fetchAs(t, 0, "--code-page", "1047", url); got != "\n [Name]    Ada\n" {
		t.Errorf("got %q", got)
	}
	contains(t, fetchAs(t, 0, "--screen", "json", url), `"text":"Ada"`, `"row":2,"col":12`)
	fetchAs(t, 2, "--screen", "xml", url)
	fetchAs(t, 2, "--code-page", "1252", url)
}
