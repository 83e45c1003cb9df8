package dict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/dict"
)

const (
	greeting = "220 host dictd <auth.mime> <1@host>\r\n"
	found    = "150 1 definitions\r\n151 \"ox\" farm \"Farm words\"\r\n"
)

// TestReplies checks how replies of unusual servers are reported.
func TestReplies(t *testing.T) {
	reply := func(steps ...faultnet.Step) faultnet.Script {
		return append(faultnet.Script{faultnet.Send(greeting), faultnet.Expect("^CLIENT fetch\r\nDEFINE ! \"ox\"\r\nQUIT\r\n$"), faultnet.Send("250 ok\r\n")}, steps...)
	}
	send := faultnet.Send
	const heading = "From Farm words [farm]:\r\n\r\n"
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"definition", reply(send(found + "An ox.\r\n.\r\n250 ok\r\n221 bye\r\n")), "ok", heading + "An ox.\r\n"},
		{"dots", reply(send(found + "..\r\n..a\r\n.\r\n250 ok\r\n")), "ok", heading + ".\r\n.a\r\n"},
		{"server that adds no dots", reply(send(found + ".a\r\n..b\r\n.\r\n250 ok\r\n")), "ok", heading + ".a\r\n..b\r\n"},
		{"bare line feeds", reply(send("150 1\n151 \"ox\" farm \"Farm words\"\nAn ox.\n.\n250 ok\n")), "ok", heading + "An ox.\n"},
		{"heading of another form", reply(send("150 1\r\n151 ox\x1b[2J\r\nAn ox.\r\n.\r\n250 ok\r\n")), "ok", "From ox\\x1b[2J:\r\n\r\nAn ox.\r\n"},
		{"no definitions", reply(send("150 0\r\n250 ok\r\n")), "ok", ""},
		{"client is an unknown command", faultnet.Script{send(greeting), faultnet.Expect("QUIT\r\n"), send("500 what\r\n" + found + "An ox.\r\n.\r\n250 ok\r\n")}, "ok", heading + "An ox.\r\n"},
		{"no match", reply(send("552 no match\r\n")), "not-found", ""},
		{"access denied", reply(send("530 access denied\r\n")), "auth", ""},
		{"control characters in an error", reply(send("502 \x1b[2J\r\n")), "unsupported", ""},
		{"busy", faultnet.Script{send("420 busy\r\n")}, "server-temp", ""},
		{"going down", faultnet.Script{send("421 down\r\n")}, "server-temp", ""},
		{"denied", faultnet.Script{send("530 go away\r\n")}, "auth", ""},
		{"other server", faultnet.Script{send("SSH-2.0-OpenSSH_9.2\r\n"), faultnet.Stall()}, "protocol", ""},
		{"silent", faultnet.Script{faultnet.Stall()}, "timeout", ""},
		{"closed at once", faultnet.Script{}, "connect", ""},
		{"no final status", reply(send(found + "An ox.\r\n.\r\n")), "truncated", heading + "An ox.\r\n"},
		{"no final dot", reply(send(found + "An ox.\r\n")), "truncated", heading + "An ox.\r\n"},
		{"reset in the text", reply(send(found+"An ox.\r\n"), faultnet.Reset()), "truncated", heading + "An ox.\r\n"},
		{"stalled text", reply(send(found+"An ox.\r\n"), faultnet.Stall()), "timeout", heading + "An ox.\r\n"},
		{"error after the text", reply(send(found + "An ox.\r\n.\r\n420 busy\r\n")), "server-temp", heading + "An ox.\r\n"},
		{"endless text", reply(send(found), faultnet.SendBytes(1<<40)), "too-large", "*"},
		{"endless line", reply(send(found), faultnet.Do("line", func(c *faultnet.Conn) error { return endless(c, "a") })), "protocol", "*"},
		{"endless definitions", reply(send("150 1\r\n"), faultnet.Do("definitions", func(c *faultnet.Conn) error { return endless(c, found[19:]+".\r\n") })), "too-large", "*"},
		{"endless status line", faultnet.Script{faultnet.Do("line", func(c *faultnet.Conn) error { return endless(c, "2") })}, "protocol", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: dict.Schemes(), Address: "192.0.2.1:2628", URL: "dict://192.0.2.1/d:ox", Script: test.script, MaxBody: 1 << 20,
			})
			if test.body == "*" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

// endless sends text until the client closes the connection.
func endless(c *faultnet.Conn, text string) error {
	text = strings.Repeat(text, 1+1000/len(text))
	for {
		if _, err := c.Write([]byte(text)); err != nil {
			return nil
		}
	}
}

// TestPlan checks the commands for each form of URL.
func TestPlan(t *testing.T) {
	define := func(words string) string { return "CLIENT fetch; " + words + "; QUIT" }
	schemetest.Plans(t, dict.Schemes()[0], map[string]string{
		"dict://h/d:ox":                          define(`DEFINE ! "ox"`),
		"dict://h/D:ox":                          define(`DEFINE ! "ox"`),
		"dict://h/define:ox":                     define(`DEFINE ! "ox"`),
		"dict://h/lookup:ox:farm":                define(`DEFINE farm "ox"`),
		"dict://h/d:ox:farm:2":                   define(`DEFINE farm "ox"`),
		"dict://h/d:ox::2":                       define(`DEFINE ! "ox"`),
		"dict://h/d:big%20ox%3A%3F:*":            define(`DEFINE * "big ox:?"`),
		`dict://h/d:%22`:                         define(`DEFINE ! \"`),
		`dict://h/d:%5C%22%20'`:                  define(`DEFINE ! \\\"\ \'`),
		"dict://h/d:ox:a%20b":                    define(`DEFINE "a b" "ox"`),
		"dict://h/m:ox":                          define(`MATCH ! . "ox"`),
		"dict://h/find:ox:farm:prefix:3":         define(`MATCH farm prefix "ox"`),
		"dict://h":                               define("SHOW DB"),
		"dict://h/show:strat":                    define("SHOW STRAT"),
		"dict://h/show:info:farm":                define("SHOW INFO farm"),
		"dict://h/show:server":                   define("SHOW SERVER"),
		"dict://h/status":                        define("STATUS"),
		"dict://h/help":                          define("HELP"),
		"dict://ada:secret@h/d:ox":               "CLIENT fetch; AUTH ada ***; DEFINE ! \"ox\"; QUIT",
		"dict://h/d::farm":                       "need-query: dictionary requires a word, such as dict://HOST/d:WORD",
		"dict://h/d:":                            "need-query: dictionary requires a word, such as dict://HOST/d:WORD",
		"dict:d:ox":                              "invalid-uri: dict URL must have a host, such as dict://HOST/d:WORD",
		"dict://h/ox":                            "invalid-uri: dict URL must start with d:, m: or show:, such as dict://HOST/d:WORD",
		"dict://h/d:ox?":                         `invalid-uri: dict URL must not have a query: write "?" as %3F`,
		"dict://h/d:ox:a:0":                      "invalid-uri: last part of a dict URL must be a number from 1",
		"dict://h/d:ox:a:1:2":                    "invalid-uri: wrong number of parts in a dict URL",
		"dict://h/show:info":                     "invalid-uri: wrong number of parts in a dict URL",
		"dict://h/show:all":                      "invalid-uri: dict URL must be show:db, show:strat, show:info:DATABASE or show:server",
		"dict://h/d:ox%0D%0AQUIT":                "invalid-uri: control character in a dict URL",
		"dict://h/d:ox:a%0Ab":                    "invalid-uri: control character in a dict URL",
		"dict://h/quit":                          "invalid-uri: dict URL must start with d:, m: or show:, such as dict://HOST/d:WORD",
		"dict://h/auth:a:b":                      "invalid-uri: dict URL must start with d:, m: or show:, such as dict://HOST/d:WORD",
		"dict://h/d:" + strings.Repeat("x", 600): "invalid-uri: DEFINE: line too long",
	})
}

// TestStat checks that a Stat request opens no connection.
func TestStat(t *testing.T) {
	for path, want := range map[string]string{"/": "menu", "/m:ox": "menu", "/d:ox": "document", "/d::farm": "index"} {
		r := schemetest.ExchangeOnce(t, schemetest.Single{
			Schemes: dict.Schemes(), Address: "192.0.2.1:1", URL: "dict://192.0.2.1" + path, Op: fetch.Stat,
		})
		if r.Err != nil || r.Response.Kind.String() != want {
			t.Errorf("%s: got %+v, want %s", path, r, want)
		}
	}
}

func TestNames(t *testing.T) { schemetest.Names(t, dict.Schemes(), "dict://h.example/d:ox") }

func TestSuite(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("An ox is an ox, and no cow.\r\n", 5000)
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:2628", faultnet.Script{faultnet.Send(greeting), faultnet.Lines(
		faultnet.On("^CLIENT", 0, faultnet.Send("250 ok\r\n")),
		faultnet.On(`^DEFINE ! "ox"$`, 0, faultnet.Send(found+text+".\r\n250 ok\r\n")),
		faultnet.On("^DEFINE", 0, faultnet.Send("552 no match\r\n")),
		faultnet.On("^SHOW DB", 0, faultnet.Send("110 2 databases\r\nfarm \"Farm words\"\r\nzoo \"Zoo\"\r\n.\r\n250 ok\r\n")),
		faultnet.On("^QUIT", 0, faultnet.Send("221 bye\r\n"), faultnet.Fin()),
	)})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: dict.Schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "dict://192.0.2.1/d:ox", Body: []byte("From Farm words [farm]:\r\n\r\n" + text), Missing: "dict://192.0.2.1/d:cow",
		Menu: "dict://192.0.2.1/", Names: []string{"farm", "zoo"},
		Rejected: []string{"dict://192.0.2.1/d:a%0ab", "dict://192.0.2.1:25/d:a", "dict://192.0.2.1:6379/d:a", "dict:///d:a", "dict://192.0.2.1/quit"},
		NoRanges: true,
	})
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: dict.Schemes, URLs: []string{"dict://192.0.2.1/d:ox"}, Body: "From Farm words [farm]:\r\n\r\nAn ox.\r\n",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:2628", faultnet.Script{faultnet.Send(greeting), faultnet.Expect("QUIT\r\n"),
				faultnet.Send("250 ok\r\n" + found + "An ox.\r\n"), faultnet.Send(".\r\n250 ok\r\n")}).Close
		},
	}.Run(t)
}

// FuzzPlan checks that no URL adds a command, and that every word is one word.
func FuzzPlan(f *testing.F) {
	schemetest.FuzzPlan(f, dict.Schemes()[0], "//h/d:ox", "//h/m:a%20b:*:prefix", "//h/d:%22%5C'", "//h/show:info:a%20b", "//h/d:a%0d%0ab", "//h/d::x", "//h/%", "//h/d:a:b:c:d")
}

// FuzzMenu checks that every URL of a listing names an object on the same server.
func FuzzMenu(f *testing.F) {
	for _, text := range []string{"farm \"Farm words\"\r\n", "a b c\n", "\"a\\\"b\" 'c d'", "a \x1b\n\n", "!:/? x"} {
		f.Add("dict://h/", text)
		f.Add("dict://h/m:a:*:.:2", text)
	}
	f.Fuzz(func(t *testing.T, url, text string) {
		base, err := fetch.ParseURL(url)
		if err != nil {
			return
		}
		for e, err := range dict.Schemes()[0].Menu(base, "", strings.NewReader(text)) {
			if err != nil {
				if fetch.FaultOf(err) == fetch.Internal {
					t.Errorf("got %v", err)
				}
				break
			}
			if e.URL.IsZero() {
				continue
			}
			if e.URL.Host() != base.Host() {
				t.Errorf("%q: %s", text, e.URL)
			}
			if _, err := dict.Schemes()[0].Plan(&fetch.Request{URL: e.URL}); err != nil && fetch.FaultOf(err) != fetch.NeedQuery && !strings.Contains(err.Error(), "too long") {
				t.Errorf("%q: %s: %v", text, e.URL, err)
			}
		}
	})
}
