package telnet_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/transcript"
	"github.com/anyurl/fetch/schemes/telnet"
)

// A turn is a block of data that one side of a recorded connection sent.
type turn struct {
	server bool
	text   string
}

// recorded returns the turns of a recording.
func recorded(t *testing.T, file string) (turns []turn) {
	t.Helper()
	for _, m := range transcript.ReadRecording(t, os.DirFS("testdata"), file+".hex") {
		turns = append(turns, turn{!m.Client, string(m.Bytes)})
	}
	return turns
}

// script returns a server script that replays the turns. It sends each turn
// after it has received as many bytes as the client sent before it in the
// recording. The result client contains all bytes of the client.
func script(turns []turn) (s faultnet.Script, client string) {
	for _, turn := range turns {
		if turn.server {
			s = append(s, faultnet.Send(turn.text))
			continue
		}
		client += turn.text
		s = append(s, faultnet.Do("receive", func(c *faultnet.Conn) error {
			_, err := io.ReadFull(c, make([]byte, len(turn.text)))
			return err
		}))
	}
	return s, client
}

// replay runs test with a client of a server that runs the script. Time is
// simulated.
func replay(t *testing.T, o telnet.Options, s faultnet.Script, test func(t *testing.T, c *fetch.Client)) (sent string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		server := n.Serve("192.0.2.1:23", s)
		c := client(t, o, func(o *fetch.Options) {
			o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
				c, err := n.Dial(ctx, network, netip.AddrPortFrom(to.Addr(), 23))
				if err == nil {
					c = privileged{c}
				}
				return c, err
			}
		})
		test(t, c)
		c.Close()
		if conns := server.Conns(); len(conns) > 0 {
			sent = string(conns[0].All())
		}
		server.Close()
	})
	return sent
}

// A privileged connection reports a reserved local port.
type privileged struct{ net.Conn }

func (privileged) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 254), Port: 1023} }

func (p privileged) CloseWrite() error {
	return p.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// TestReplayScreens checks that the driver sends the same bytes as s3270 and
// returns the same screen.
func TestReplayScreens(t *testing.T) {
	for _, file := range []string{"go3270", "hercules"} {
		t.Run(file, func(t *testing.T) {
			play, want := script(recorded(t, file))
			sent := replay(t, telnet.Options{CodePage: 1047}, append(play, faultnet.Stall()), func(t *testing.T, c *fetch.Client) {
				resp, err := c.Get(t.Context(), "tn3270://192.0.2.1/")
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				screen, _ := os.ReadFile("testdata/" + file + ".txt")
				if err != nil || string(got) != string(screen) {
					t.Errorf("got\n%s%v, want\n%s", got, err, screen)
				}
			})
			if sent != want {
				t.Errorf("sent %q, want %q", sent, want)
			}
		})
	}
}

// TestReplayTelnetd checks a session with GNU telnetd, which sends no output
// before all its requests are answered.
func TestReplayTelnetd(t *testing.T) {
	turns := recorded(t, "telnetd")
	const (
		refusals = "\xff\xfe%\xff\xfe&\xff\xfb\x18\xff\xfc \xff\xfc#\xff\xfc'\xff\xfc$"
		kind     = "\xff\xfa\x18\x00XTERM\xff\xf0"
		wishes   = "\xff\xfd\x03\xff\xfc\x01\xff\xfc\"\xff\xfb\x1f\xff\xfa\x1f\x00P\x00\x18\xff\xf0\xff\xfe\x05\xff\xfc!"
		binary   = "\xff\xfd\x01\xff\xfc\x06\xff\xfb\x00"
	)
	for i, text := range []string{refusals, kind, wishes, binary, "bob\r"} {
		turns[2*i+1].text = text // with the window size and binary options
	}
	play, want := script(turns)
	got := ""
	sent := replay(t, telnet.Options{Mode: func(telnet.Mode) {}}, play, func(t *testing.T, c *fetch.Client) {
		talk := openSession(t, c, "telnet://192.0.2.1")
		talk.Resize(80, 24)
		talk.expect("something: ")
		talk.send("bob\r")
		if _, err := io.Copy(&talk.seen, talk.Body); err != nil {
			t.Error(err)
		}
		got = talk.seen.String()
	})
	if !strings.HasSuffix(got, "Welcome to the test host\r\r\nType something: bob\r\nyou said bob\r\r\n") || sent != want {
		t.Errorf("got %q, sent %q, want %q", got, sent, want)
	}
}

func TestReplayRlogind(t *testing.T) {
	turns := recorded(t, "rlogind")
	turns[0].text = "\x00root\x00fetchftp\x00vt100/38400\x00"
	play, want := script(turns)
	sent := replay(t, telnet.Options{LocalUser: "root", Terminal: "VT100"}, play, func(t *testing.T, c *fetch.Client) {
		talk := openSession(t, c, "rlogin://fetchftp:ignored@192.0.2.1/")
		talk.expect("Password: ")
		talk.send("s3cret\r")
		talk.expect("~$ ")
		talk.send("echo hi-$TERM; exit\r")
		talk.expect("hi-vt100\r\nlogout\r\n")
	})
	if sent != want {
		t.Errorf("sent %q, want %q", sent, want)
	}
}
