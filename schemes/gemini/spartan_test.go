package gemini_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gemini"
)

// No Spartan server is available as a Debian package or Go module, so the
// replies of these tests follow the specification.

func TestSpartanReplies(t *testing.T) {
	ask := []faultnet.Step{faultnet.Expect("^192.0.2.1 /x 3\r\na b$")}
	say := func(steps ...faultnet.Step) faultnet.Script { return append(ask[:1:1], steps...) }
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"text", say(faultnet.Send("2 text/plain\r\nhello\n")), "ok", "hello\n"},
		{"empty", say(faultnet.Send("2 text/plain\r\n")), "ok", ""},
		{"no media type", say(faultnet.Send("2\r\nhello\n")), "ok", "hello\n"},
		{"header that ends in LF", say(faultnet.Send("2 text/plain\nhello\n")), "ok", "hello\n"},
		{"reset in the body", say(faultnet.Send("2 text/plain\r\nhello\n"), faultnet.Reset()), "truncated", "hello\n"},
		{"silent in the body", say(faultnet.Send("2 text/plain\r\nhello\n"), faultnet.Stall()), "timeout", "hello\n"},
		{"silent", say(faultnet.Stall()), "timeout", ""},
		{"header sent slowly", say(faultnet.SendSlow("2 "+strings.Repeat("x", 1000), 1, 10*time.Second)), "timeout", ""},
		{"reset before the header", say(faultnet.Reset()), "connect", ""},
		{"closed before the header", say(), "connect", ""},
		{"closed in the header", say(faultnet.Send("2 text/pl")), "connect", ""},
		{"silent in the header", say(faultnet.Send("2"), faultnet.Stall()), "timeout", ""},
		{"closed in another text", say(faultnet.Send("hello")), "protocol", ""},
		{"endless header", say(faultnet.Send("2 " + strings.Repeat("x", 1<<20))), "protocol", ""},
		{"endless body", say(faultnet.Send("2 text/plain\r\n"), faultnet.SendBytes(1<<40)), "too-large", ""},
		{"control character", say(faultnet.Send("4 \x1b[2J\r\n")), "protocol", ""},
		{"two digits", say(faultnet.Send("20 text/plain\r\n")), "protocol", ""},
		{"unknown code", say(faultnet.Send("6 x\r\n")), "protocol", ""},
		{"redirect to another server", say(faultnet.Send("3 spartan://192.0.2.2/\r\n")), "protocol", ""},
		{"redirect to another host", say(faultnet.Send("3 //192.0.2.2/\r\n")), "protocol", ""},
		{"error of the client", say(faultnet.Send("4 not there\r\n")), "not-found", ""},
		{"error of the server", say(faultnet.Send("5 oops\r\n")), "server-temp", ""},
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: gemini.Schemes(gemini.Options{}), Address: "192.0.2.1:300", URL: "spartan://192.0.2.1/x?a%20b", Script: test.script, MaxBody: 1 << 20,
			})
			if test.fault == "too-large" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

func TestSpartan(t *testing.T) {
	page := "# Title\n=> sub/ A folder\n=: /find Words?\n=: find\n"
	text := strings.Repeat("spartan\r\n", 20_000)
	n := faultnet.NewNetwork(t)
	script := faultnet.Script{faultnet.Lines(
		faultnet.On("^19[0-9.]+ / 0", 0, faultnet.Send("2 text/gemini\r\n"+page), faultnet.Fin()),
		faultnet.On("^19[0-9.]+ /text 0", 0, faultnet.Send("2 text/plain\r\n"+text), faultnet.Fin()),
		faultnet.On("^19[0-9.]+ /old 0", 0, faultnet.Send("3 /text\r\n"), faultnet.Fin()),
		faultnet.On("^19[0-9.]+ /loop 0", 0, faultnet.Send("3 /pool\r\n"), faultnet.Fin()),
		faultnet.On("^19[0-9.]+ /pool 0", 0, faultnet.Send("3 /loop\r\n"), faultnet.Fin()),
		faultnet.On("^19[0-9.]+ /nosuch 0", 0, faultnet.Send("4 no\r\n"), faultnet.Fin()),
	)}
	n.Serve("192.0.2.1:300", script)
	n.Serve("198.41.0.4:300", script)
	root := "spartan://198.41.0.4"
	schemes := func() []fetch.Scheme { return gemini.Schemes(gemini.Options{}) }
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "spartan://192.0.2.1/text", Body: []byte(text), Missing: "spartan://192.0.2.1/nosuch", Menu: "spartan://192.0.2.1/", Names: []string{"A folder", "Words?"},
		Rejected: []string{"spartan:///x", "spartan://192.0.2.1:25/", "spartan://192.0.2.1:6379/x"}, NoRanges: true,
	})
	c := schemetest.NewClient(t, schemes(), func(o *fetch.Options) { o.Dial = n.Dial })
	for path, want := range map[string]string{
		"/":     "info \"# Title\"\nmenu \"A folder\" /sub/ text/gemini\nindex \"Words?\" /find\nindex \"" + root + "/find\" /find",
		"/loop": "loop: redirect /pool: redirect loop at /loop",
	} {
		resp, err := c.Get(t.Context(), root+path)
		if got := schemetest.Describe(resp, err, root); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
		}
	}
	if resp, body, err := schemetest.Read(t, c, root+"/old"); err != nil || body != text || len(resp.Chain) != 1 {
		t.Errorf("redirect: got %d bytes, %v", len(body), err)
	}
}

func TestSpartanPlan(t *testing.T) {
	schemetest.Plans(t, gemini.Schemes(gemini.Options{})[1], map[string]string{
		"spartan://h":              "send h / 0",
		"spartan://h?a+b%20c":      "send h / 5; data a+b c",
		"spartan://H:301/a%20b/#c": "send h /a%20b/ 0",
		"spartan://u:p@h/?":        "send h / 0",
		"spartan://h/a%0D%0Ab":     "send h /a%0D%0Ab 0",
		"spartan://[2001:db8::1]/": "send 2001:db8::1 / 0",
		"spartan:/x":               "invalid-uri: no host",
	})
}

func TestSpartanNames(t *testing.T) {
	schemetest.Names(t, gemini.Schemes(gemini.Options{}), "spartan://h.example/")
}

// TestSpartanSweep injects a failure into each network operation.
func TestSpartanSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return gemini.Schemes(gemini.Options{}) }, URLs: []string{"spartan://192.0.2.1/a"}, Body: "hello",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:300", faultnet.Script{faultnet.Expect("\r\n$"), faultnet.Send("2 text/plain\r\nhello")}).Close
		},
	}.Run(t)
}
