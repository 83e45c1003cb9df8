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
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/schemetest"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/anyurl/fetch/uri"
)

const (
	agree  = "\xff\xfd\x19\xff\xfb\x19"         // END-OF-RECORD, both ways
	screen = "\xf5\xc3\xc8\x89\xff\xef"         // "Hi", and the keyboard is free
	locked = "\xf5\xc1\xc8\x89\xff\xef"         // it is not
	storm  = "\xff\xfb\x05\xff\xfd\x05\xff\xf6" // what is refused, and what asks for nothing
)

// TestFaults: what goes wrong on the way, how it is called, and how long it
// takes at the most. Time is fake.
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
		{"nobody there", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Blackhole()}, "timeout", "", 10 * time.Second},
		{"reset before the first byte", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Reset()}, "connect", "", 0},
		{"reset on the way", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("half"), faultnet.Reset()}, "connect", "half", 0},
		{"closed at once", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{}, "ok", "", 0},
		{"closed", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("all")}, "ok", "all", 0},
		{"IAC at the end", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("all\xff")}, "ok", "all", 0},
		{"a day of silence", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("a"), faultnet.Delay(24 * time.Hour), send("b")}, "ok", "ab", 24 * time.Hour},
		{"silence that is the end", "telnet://192.0.2.1", telnet.Options{Idle: time.Minute}, faultnet.Script{send("a"), faultnet.Delay(50 * time.Second), send("b"), faultnet.Stall()}, "ok", "ab", 111 * time.Second},
		{"slow drip", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.SendSlow("slow", 1, time.Minute)}, "ok", "slow", 5 * time.Minute},
		{"option storm", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send(strings.Repeat(storm, 20_000) + "calm")}, "ok", "calm", 0},
		{"subnegotiation without end", "telnet://192.0.2.1", telnet.Options{}, faultnet.Script{send("a\xff\xfa\x18" + strings.Repeat("x", 1<<20))}, "ok", "a", 0},

		{"rlogin, well", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x00Welcome")}, "ok", "Welcome", 0},
		{"rlogin, bytes are not doubled", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x00\xff\xff\r\x00")}, "ok", "\xff\xff\r\x00", 0},
		{"rlogin, refused", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, send("\x01Permission \x1bdenied.\r\nmore")}, "server-perm", "", 0},
		{"rlogin, hung up", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin}, "connect", "", 0},
		{"rlogin, reset", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, faultnet.Reset()}, "connect", "", 0},
		{"rlogin, silent", "rlogin://bob@192.0.2.1", telnet.Options{}, faultnet.Script{rlogin, faultnet.Stall()}, "timeout", "", 30 * time.Second},
		{"rlogin, nobody", "rlogin://192.0.2.1", telnet.Options{}, faultnet.Script{}, "usage", "", 0},

		{"a screen", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Stall()}, "ok", "Hi\n", time.Second / 2},
		{"a screen, and the end", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen)}, "ok", "Hi\n", 0},
		{"a screen, and a reset", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Reset()}, "ok", "Hi\n", 0},
		{"the screen after the first", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen), faultnet.Delay(time.Second / 4), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", time.Second},
		{"a screen under work", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + locked), faultnet.Delay(5 * time.Second), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", 6 * time.Second},
		{"a screen for ever under work", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + locked), faultnet.Stall()}, "ok", "Hi\n", 10 * time.Second},
		{"a screen that never settles", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree), faultnet.SendSlow(strings.Repeat(screen, 100), len(screen), time.Second/4)}, "ok", "Hi\n", 11 * time.Second},
		{"a longer time to settle", "tn3270://192.0.2.1", telnet.Options{Settle: 3 * time.Second}, faultnet.Script{send(agree + screen), faultnet.Delay(2 * time.Second), send("\xf5\xc3\xc8\x96\xff\xef"), faultnet.Stall()}, "ok", "Ho\n", 6 * time.Second},
		{"cut within an order", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + "\xf5\xc3\x11\x40\xff\xef")}, "protocol", "", 0},
		{"cut within a record", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + "\xf5\xc3\x81\x82")}, "truncated", "", 0},
		{"cut within the second", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree + screen + "\xf5\xc3\x81")}, "truncated", "", 0},
		{"a record without end", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(agree), faultnet.SendBytes(1 << 40)}, "protocol", "", 0},
		{"no 3270", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send("login: \x1b[2J")}, "protocol", "", 0},
		{"no 3270, waiting", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send("login: "), faultnet.Stall()}, "timeout", "", time.Minute},
		{"no 3270 without end", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.SendBytes(2 << 20)}, "protocol", "", 0},
		{"silent host", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{faultnet.Stall()}, "timeout", "", time.Minute},
		{"options without end", "tn3270://192.0.2.1", telnet.Options{}, faultnet.Script{send(strings.Repeat(storm, 20_000))}, "protocol", "", 0},
		{"a code page of nobody's", "tn3270://192.0.2.1", telnet.Options{CodePage: 1252}, faultnet.Script{}, "usage", "", 0},
		{"command in a terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "vt\xff\xf0\xff\xf4"}, faultnet.Script{}, "usage", "", 0},
		{"NUL in a terminal type", "rlogin://bob@192.0.2.1", telnet.Options{Terminal: "vt\x00"}, faultnet.Script{}, "usage", "", 0},
		{"command in a terminal type that is not sent", "tn3270://192.0.2.1", telnet.Options{Terminal: "\xff"}, faultnet.Script{}, "usage", "", 0},
		{"blank in a terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "vt 100"}, faultnet.Script{}, "usage", "", 0},
		{"letter outside ASCII in a terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: "v\u00e9"}, faultnet.Script{}, "usage", "", 0},
		{"long terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: strings.Repeat("v", 41)}, faultnet.Script{}, "usage", "", 0},
		{"longest terminal type", "telnet://192.0.2.1", telnet.Options{Terminal: strings.Repeat("v", 40)}, faultnet.Script{}, "ok", "", 0},
		{"NUL in the local user", "rlogin://bob@192.0.2.1", telnet.Options{LocalUser: "a\x00root"}, faultnet.Script{}, "usage", "", 0},
		{"control character in the user", "rlogin://b%1Bob@192.0.2.1", telnet.Options{}, faultnet.Script{}, "invalid-uri", "", 0},
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

// TestRefused: what a URL cannot say is refused before anything is dialled,
// and nobody is led into a session.
func TestRefused(t *testing.T) {
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
		t.Errorf("dialled %v", dialed)
	}
}

// TestNotes: a person learns whom the session is with before it begins, and
// what the URL advises; the peer does not.
func TestNotes(t *testing.T) {
	var notes []string
	sent := replay(t, telnet.Options{}, faultnet.Script{faultnet.Send("\xff\xfd\x27\xff\xfa\x27\x01\xff\xf0"), faultnet.Expect("\x27")}, func(t *testing.T, c *fetch.Client) {
		req := &fetch.Request{URL: uri.MustParse("telnet://b%1bob:s3cret@192.0.2.1:23/"), Range: fetch.Range{First: 2}, Trace: &fetch.Trace{Note: func(s string) { notes = append(notes, s) }}}
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
		t.Errorf("notes %q, sent %q", notes, sent)
	}
}

// TestHalfClose: our end is not theirs.
func TestHalfClose(t *testing.T) {
	hear := faultnet.Do("hear", func(c *faultnet.Conn) error { _, err := io.Copy(io.Discard, c); return err })
	replay(t, telnet.Options{}, faultnet.Script{hear, faultnet.Send("you have hung up")}, func(t *testing.T, c *fetch.Client) {
		talk := begin(t, c, "telnet://192.0.2.1")
		talk.say("bye")
		if err := talk.Input.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(talk.Body); string(b) != "you have hung up" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
	})
}

// TestEndless: --max-filesize holds for sessions, too.
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

// TestStat asks nothing of the network.
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
		Refused:  []string{"tn3270://h/path", "tn3270://h:25/"},
		Whole:    true,
	})
}
