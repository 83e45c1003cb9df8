package telnet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/racingmars/go3270"
	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/telnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t testing.TB, o telnet.Options, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, telnet.Schemes(o), change...)
}

// A talk is a session with helpers for tests.
type talk struct {
	t *testing.T
	*fetch.Response
	seen bytes.Buffer
}

func openSession(t *testing.T, c *fetch.Client, url string) *talk {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.Kind != fetch.Session || resp.Input == nil {
		t.Fatalf("%s: got kind %v", url, resp.Kind)
	}
	return &talk{t: t, Response: resp}
}

func (s *talk) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.Input, text); err != nil {
		s.t.Fatal(err)
	}
}

// expect reads until the new output contains want.
func (s *talk) expect(want string) {
	s.t.Helper()
	from := s.seen.Len()
	buf := make([]byte, 100)
	for !strings.Contains(s.seen.String()[from:], want) {
		n, err := s.Body.Read(buf)
		s.seen.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("got %q, want text with %q: %v", s.seen.String()[from:], want, err)
		}
	}
}

func TestTelnetd(t *testing.T) {
	t.Parallel()
	// The program may start before telnetd has received the window size.
	s := peer.Telnetd(t, peer.TelnetdOptions{Script: `until [ "$(stty size)" = "255 101" ]; do :; done; echo "$TERM $USER $(stty size)"; read -r line; printf 'you said %s \377\303\277 %s\n' "$line" "$(stty size)"; env | sort; echo the end; read -r line`})
	var modes []telnet.Mode
	c := client(t, telnet.Options{Mode: func(m telnet.Mode) { modes = append(modes, m) }, Terminal: "VT220"})
	talk := openSession(t, c, "telnet://bob:secret@"+s.Addr+"/")
	talk.Resize(101, 255)
	talk.expect("vt220  255 101")
	talk.Resize(255, 33)
	talk.send("caf\xff\xe9\r")
	talk.expect("the end")
	output := talk.seen.String()
	if !strings.Contains(output, "you said caf\xff\xe9 \xff\xc3\xbf 33 255") || strings.Contains(output, "bob") || strings.Contains(output, "secret") {
		t.Errorf("got %q", output)
	}
	talk.send("\r") // telnetd may lose the output of a program that exits immediately
	if _, err := io.ReadAll(talk.Body); err != nil {
		t.Error(err)
	}
	if want := []telnet.Mode{telnet.Lines, telnet.Keys}; !slices.Equal(modes, want) {
		t.Errorf("modes %v, want %v", modes, want)
	}
}

// TestTelnetdPlain opens a session without a window, as for a pipe.
func TestTelnetdPlain(t *testing.T) {
	t.Parallel()
	s := peer.Telnetd(t, peer.TelnetdOptions{Script: `stty size; read -r line; echo "you said $line"; read -r line`})
	talk := openSession(t, client(t, telnet.Options{}), "telnet://"+s.Addr)
	talk.expect("0 0")
	talk.send("hello\n")
	talk.expect("you said hello")
	talk.send("bye\n") // telnetd may lose the output of a program that exits immediately
	if _, err := io.ReadAll(talk.Body); err != nil {
		t.Error(err)
	}
}

func TestRlogind(t *testing.T) {
	t.Parallel()
	s := peer.Rlogind(t)
	c := client(t, telnet.Options{Terminal: "dumb"})
	talk := openSession(t, c, "rlogin://"+peer.User+"@"+s.Addr+"/")
	talk.expect("assword: ")
	talk.send(peer.Password + "\r")
	talk.expect("$ ")
	talk.send("echo $((6*7)) $TERM\r")
	talk.expect("42 dumb")
	talk.Resize(100, 40)
	talk.send("stty size; exit\r")
	talk.expect("40 100\r\n")
	if _, err := io.ReadAll(talk.Body); err != nil {
		t.Error(err)
	}
	unreserved := func(o *fetch.Options) {
		o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, to.String())
		}
	}
	_, err := client(t, telnet.Options{}, unreserved).Get(t.Context(), "rlogin://"+peer.User+"@"+s.Addr+"/")
	if !errors.Is(err, fetch.BadPort) || !strings.Contains(err.Error(), "512 to 1023") {
		t.Errorf("unreserved port: got %v", err)
	}
}

// host3270 starts a go3270 server with the given screen.
func host3270(t *testing.T, screen go3270.Screen) (addr string) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			done <- err
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(5 * time.Minute))
		if _, err = go3270.NegotiateTelnet(conn); err == nil {
			_, err = go3270.ShowScreenOpts(screen, nil, conn, go3270.ScreenOpts{NoResponse: true, CursorRow: 4, CursorCol: 13})
		}
		io.Copy(io.Discard, conn)
		done <- err
	}()
	t.Cleanup(func() {
		ln.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

var loginScreen = go3270.Screen{
	{Row: 0, Col: 27, Intense: true, Content: "3270 Example Application"},
	{Row: 2, Col: 0, Content: "Welcome to the go3270 example. Please enter your name."},
	{Row: 4, Col: 0, Content: "First Name  . . ."},
	{Row: 4, Col: 19, Name: "fname", Write: true, Content: "Ada [1]"},
	{Row: 4, Col: 40, Autoskip: true},
	{Row: 5, Col: 0, Content: "Password  . . . ."},
	{Row: 5, Col: 19, Name: "password", Write: true, Hidden: true, Content: "sesame"},
	{Row: 5, Col: 40},
	{Row: 22, Col: 0, Content: "PF3 Exit"},
}

const loginText = `                            3270 Example Application

 Welcome to the go3270 example. Please enter your name.

 First Name  . . .  Ada [1]
 Password  . . . .
` + "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n PF3 Exit\n"

func TestGo3270(t *testing.T) {
	t.Parallel()
	addr := host3270(t, loginScreen)
	resp, err := client(t, telnet.Options{CodePage: 1047}).Get(t.Context(), "tn3270://"+addr+"/")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || string(text) != loginText || resp.Kind != fetch.Document || resp.Input != nil {
		t.Errorf("got %v %q, %v, want %q", resp.Kind, text, err, loginText)
	}
	// The host uses code page 1047, in which the brackets have different codes.
	resp, err = client(t, telnet.Options{JSON: true}).Get(t.Context(), "tn3270://"+host3270(t, loginScreen)+"/")
	if err != nil {
		t.Fatal(err)
	}
	var screen telnet.Screen
	if err := json.NewDecoder(resp.Body).Decode(&screen); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range screen.Fields {
		got += fmt.Sprintf("%d,%d+%d %q %t %t %t\n", f.Row, f.Col, f.Length, f.Text, f.Protected, f.Bright, f.Hidden)
	}
	want := `1,29+132 "3270 Example Application" true true false
3,2+159 "Welcome to the go3270 example. Please enter your name." true false false
5,2+18 "First Name  . . ." true false false
5,21+20 "Ada Ý1¨" false false false
5,42+39 "" true false false
6,2+18 "Password  . . . ." true false false
6,21+20 "" false false true
6,42+1319 "" true false false
23,2+186 "PF3 Exit" true false false
`
	if got != want || len(screen.Lines) != 24 || screen.Cursor != (telnet.Place{Row: 5, Col: 14}) || resp.Media != "application/json" {
		t.Errorf("got cursor %v, fields\n%swant\n%s", screen.Cursor, got, want)
	}
}
