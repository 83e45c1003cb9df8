package telnet_test

import (
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/anyurl/fetch/uri"
)

const (
	agree  = "\xff\xfd\x19\xff\xfb\x19"         // END-OF-RECORD in both directions
	screen = "\xf5\xc3\xc8\x89\xff\xef"         // "Hi" with the keyboard unlocked
	locked = "\xf5\xc1\xc8\x89\xff\xef"         // "Hi" with the keyboard locked
	storm  = "\xff\xfb\x05\xff\xfd\x05\xff\xf6" // rejected options and a command without a response
)

// TestFaults checks the fault and the maximum duration of failing connections.
// Time is simulated.
func TestFaults(t *testing.T) {
	send := faultnet.Send
	rlogin := faultnet.Expect("^\x00bob\x00bob\x00xterm/38400\x00$")
	for _, test := range []struct {
		name, url string
		o         telnet.Options
		script    faultnet.Script
		fault     string
		body      string
		took      time.Duration
	}{
		{"connection refused", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Refuse()}, "connect", "", 0},
		{"host unreachable", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Blackhole()}, "timeout", "", 10 * time.Second},
		{"reset before the first byte", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Reset()}, "connect", "", 0},
		{"reset after data", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("half"), faultnet.Reset()}, "connect", "half", 0},
		{"closed without data", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{}, "ok", "", 0},
		{"closed after data", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("all")}, "ok", "all", 0},
		{"IAC at the end", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("all\xff")}, "ok", "all", 0},
		{"no data for a day", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("a"), faultnet.Delay(24 * time.Hour), send("b")}, "ok", "ab", 24 * time.Hour},
		{"idle timeout", "telnet://192.0.2.1", telnet.Options{Idle: time.Minute}, faultnet.Script{send("a"), faultnet.Delay(50 * time.Second), send("b"), faultnet.Stall()}, "ok", "ab", 111 * time.Second},
		{"idle timeout with commands", "telnet://192.0.2.1", telnet.Options{Idle: time.Minute}, faultnet.Script{send("a"), faultnet.SendSlow(strings.Repeat("\xff\xf1", 99), 2, 20*time.Second)}, "ok", "a", time.Minute},
		{"one byte per minute", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.SendSlow("slow", 1, time.Minute)}, "ok", "slow", 5 * time.Minute},
		{"option storm", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send(strings.Repeat(storm, 20_000) + "calm")}, "ok", "calm", 0},
		{"subnegotiation of unlimited length", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("a\xff\xfa\x18" + strings.Repeat("x", 1<<20))}, "ok", "a", 0},

		{"rlogin, accepted login", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x00Welcome")}, "ok", "Welcome", 0},
		{"rlogin, bytes 0xff in the output", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x00\xff\xff\r\x00")}, "ok", "\xff\xff\r\x00", 0},
		{"rlogin, rejected login", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x01Permission \x1bdenied.\r\nmore")}, "server-perm", "", 0},
		{"rlogin, connection closed without a response", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin}, "connect", "", 0},
		{"rlogin, reset", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, faultnet.Reset()}, "connect", "", 0},
		{"rlogin, no response", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, faultnet.Stall()}, "timeout", "", 30 * time.Second},
		{"rlogin, no user name", "rlogin://192.0.2.1", telnet.Options{}, faultnet.Script{}, "usage", "", 0},

		{"one screen", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Stall()}, "ok", "Hi\n", time.Second / 2},
		{"screen before the connection is closed", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen)}, "ok", "Hi\n", 0},
		{"screen before a reset", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Reset()}, "ok", "Hi\n", 0},
		{"second screen before the settle time", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Delay(time.Second / 4), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", time.Second},
		{"screen with a locked keyboard", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + locked), faultnet.Delay(5 * time.Second), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", 6 * time.Second},
		{"screen with a permanently locked keyboard", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + locked), faultnet.Stall()}, "ok", "Hi\n", 10 * time.Second},
		{"screen that never stops changing", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree), faultnet.SendSlow(strings.Repeat(screen, 100), len(screen), time.Second/4)}, "ok", "Hi\n", 11 * time.Second},
		{"longer settle time", "tn3270://192.0.2.1", telnet.Options{Settle: 3 * time.Second}, faultnet.Script{send(agree + screen), faultnet.Delay(2 * time.Second), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", 6 * time.Second},
		{"truncated order", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + "\xf5\xc3\x11\x40\xff\xef")}, "protocol", "", 0},
		{"truncated record", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + "\xf5\xc3\x81\x82")}, "truncated", "", 0},
		{"truncated second record", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen + "\xf5\xc3\x81")}, "truncated", "", 0},
		{"record of unlimited length", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree), faultnet.SendBytes(1 << 40)}, "protocol", "", 0},
		{"text instead of a screen", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send("login: \x1b[2J")}, "protocol", "", 0},
		{"text instead of a screen, connection open", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send("login: "), faultnet.Stall()}, "timeout", "", time.Minute},
		{"text of unlimited length instead of a screen", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.SendBytes(2 << 20)}, "protocol", "", 0},
		{"silent host", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Stall()}, "timeout", "", time.Minute},
		{"option storm before the screen", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(strings.Repeat(storm, 20_000))}, "connect", "", 0},
		{"unknown code page", "tn3270://192.0.2.1", telnet.Options{CodePage: 1252}, faultnet.Script{}, "usage", "", 0},
		{"Telnet command in the terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "vt\xff\xf0\xff\xf4"}, faultnet.Script{}, "usage", "", 0},
		{"NUL in the terminal type", "rlogin://bob@192.0.2.1", telnet.Options{Terminal: "vt\x00"}, faultnet.Script{}, "usage", "", 0},
		{"Telnet command in an unused terminal type", "tn3270://192.0.2.1", telnet.Options{Terminal: "\xff"}, faultnet.Script{}, "usage", "", 0},
		{"space in the terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "vt 100"}, faultnet.Script{}, "usage", "", 0},
		{"non-ASCII letter in the terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "v\u00e9"}, faultnet.Script{}, "usage", "", 0},
		{"terminal type longer than the limit", "telnet://192.0.2.1", telnet.Options{Terminal: strings.Repeat("v", 41)}, faultnet.Script{}, "usage", "", 0},
		{"terminal type of the maximum length", "telnet://192.0.2.1", telnet.Options{Terminal: strings.Repeat("v", 40)}, faultnet.Script{}, "ok", "", 0},
		{"NUL in the local user name", "rlogin://bob@192.0.2.1", telnet.Options{LocalUser: "a\x00root"}, faultnet.Script{}, "usage", "", 0},
		{"control character in the user name", "rlogin://b%1Bob@192.0.2.1", telnet.Options{}, faultnet.Script{}, "invalid-uri", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			replay(t, test.o, test.script, func(t *testing.T, c *fetch.Client) {
				schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, test.url)).Check(t, test.fault, test.body, test.took)
			})
		})
	}
}

func TestNames(t *testing.T) {
	schemetest.Names(t, telnet.Schemes(telnet.Options{}), "telnet://h.example")
}

// TestRejectedURLs checks that invalid URLs are rejected before a connection is
// opened, and that links and redirects cannot open a session.
func TestRejectedURLs(t *testing.T) {
	n := faultnet.NewNetwork(t)
	c := client(t, telnet.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
	for url, want := range map[string]fetch.Fault{
		"telnet://192.0.2.1/path":         fetch.BadURL,
		"telnet://192.0.2.1/?q":           fetch.BadURL,
		"telnet:///":                      fetch.BadURL,
		"telnet:host":                     fetch.BadURL,
		"telnet://a%0d%0ab@192.0.2.1":     fetch.BadURL,
		"telnet://a%ff%fb@192.0.2.1":      fetch.BadURL,
		"telnet://a:b%0a@192.0.2.1":       fetch.BadURL,
		"rlogin://a%00root@192.0.2.1":     fetch.BadURL,
		"telnet://192.0.2.1:25":           fetch.BadPort,
		"telnet://192.0.2.1:6379":         fetch.BadPort,
		"telnet://192.0.2.1:99999":        fetch.BadPort,
		"tn3270://192.0.2.1:23/a":         fetch.BadURL,
		"rlogin://bob@192.0.2.1/x":        fetch.BadURL,
		"rlogin://a%0d@192.0.2.1":         fetch.BadURL,
		"telnet://0x7f.1/":                fetch.BadAddress,
		"telnet://169.254.169.254:23/":    fetch.BadAddress,
		"telnet://192.0.2.1/;rm%20-rf%20": fetch.BadURL,
	} {
		if _, err := c.Get(t.Context(), url); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", url, err, want)
		}
	}
	from := &fetch.Source{URL: uri.MustParse("http://192.0.2.1/"), Peer: netip.MustParseAddr("192.0.2.1")}
	for _, scheme := range []string{"telnet", "rlogin", "tn3270"} {
		u := uri.MustParse(scheme + "://bob@192.0.2.1/")
		for _, source := range []*fetch.Source{from, {URL: u}} {
			if _, err := c.Do(t.Context(), &fetch.Request{URL: u, From: source}); fetch.FaultOf(err) != fetch.BadReferral && fetch.FaultOf(err) != fetch.BadPort {
				t.Errorf("%s from %s: got %v", scheme, source.URL, err)
			}
		}
	}
	if dialed := n.Dialed(); len(dialed) > 0 {
		t.Errorf("dialed %v", dialed)
	}
}

// TestNotes checks that the trace reports the server and the credentials of the
// URL, and that the credentials are not sent.
func TestNotes(t *testing.T) {
	var notes []string
	sent := replay(t, telnet.Options{}, faultnet.Script{faultnet.Send("\xff\xfd\x27\xff\xfa\x27\x01\xff\xf0"), faultnet.Expect("\x27")}, func(t *testing.T, c *fetch.Client) {
		req := &fetch.Request{URL: uri.MustParse("telnet://b%1bob:s3cret@192.0.2.1:23/"), Range: fetch.Range{First: 2}, Trace: &trace.Trace{Note: func(s string) { notes = append(notes, s) }}}
		resp, err := c.Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
	})
	want := []string{"telnet session with 192.0.2.1, port 23", "telnet does not support ranges: fetching the complete object", `log in as b\x1bob (user name in the URL)`, "the URL contains a password, which is not sent"}
	if !slices.Equal(notes, want) || sent != "\xff\xfc\x27" {
		t.Errorf("got notes %q, sent %q", notes, sent)
	}
}

// TestHalfClose checks that Body can be read after Input is closed.
func TestHalfClose(t *testing.T) {
	hear := faultnet.Do("hear", func(c *faultnet.Conn) error { _, err := io.Copy(io.Discard, c); return err })
	replay(t, telnet.Options{}, faultnet.Script{hear, faultnet.Send("you have hung up")}, func(t *testing.T, c *fetch.Client) {
		talk := openSession(t, c, "telnet://192.0.2.1")
		talk.send("bye")
		if err := talk.Input.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(talk.Body); string(b) != "you have hung up" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
	})
}

// TestEndless checks that the limit on the body size applies to sessions.
func TestEndless(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:23", faultnet.Script{faultnet.SendBytes(1 << 40)})
	c := client(t, telnet.Options{}, func(o *fetch.Options) { o.Dial, o.Policy.MaxBody = n.Dial, 1<<20 })
	resp, err := c.Get(t.Context(), "telnet://192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, fetch.TooLarge) {
		t.Errorf("got %d bytes, %v", n, err)
	}
	resp.Body.Close()
}

// TestStat checks that a Stat request opens no connection.
func TestStat(t *testing.T) {
	n := faultnet.NewNetwork(t)
	c := client(t, telnet.Options{}, func(o *fetch.Options) { o.Dial = n.Dial })
	for url, kind := range map[string]fetch.Kind{"telnet://192.0.2.1": fetch.Session, "rlogin://bob@192.0.2.1": fetch.Session, "tn3270://192.0.2.1": fetch.Document} {
		resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url), Op: fetch.Stat})
		if err != nil || resp.Kind != kind || resp.Input != nil || len(n.Dialed()) > 0 {
			t.Errorf("%s: got %+v, %v", url, resp, err)
		}
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	s := faultnet.Listen(t, faultnet.Script{faultnet.Send(agree + screen)})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return telnet.Schemes(telnet.Options{}) },
		Document: "tn3270://user:secret@" + s.Addr().String() + "/",
		Body:     []byte("Hi\n"),
		Rejected: []string{"tn3270://h/path", "tn3270://h:25/"},
		NoRanges: true,
	})
}
