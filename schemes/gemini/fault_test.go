package gemini_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gemini"
)

// TestReplies checks how replies of unusual and hostile servers are reported.
// Time is fake.
func TestReplies(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	ask := []faultnet.Step{certs.SelfSigned(), faultnet.Expect("^gemini://192.0.2.1/x\r\n$")}
	say := func(steps ...faultnet.Step) faultnet.Script { return append(slices.Clip(ask), steps...) }
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"text", say(faultnet.Send("20 text/plain\r\nhello\n")), "ok", "hello\n"},
		{"empty", say(faultnet.Send("20 text/plain\r\n")), "ok", ""},
		{"no media type", say(faultnet.Send("20\r\n# hi")), "ok", "# hi"},
		{"header that ends in LF", say(faultnet.Send("20 text/plain\nhello\n")), "ok", "hello\n"},
		{"TAB in the header", say(faultnet.Send("20\ttext/plain\r\nhello\n")), "ok", "hello\n"},
		{"header in pieces", say(faultnet.SendSlow("20 text/plain\r\nhello\n", 1, time.Second)), "ok", "hello\n"},
		{"unknown code of success", say(faultnet.Send("29 text/plain\r\nhello\n")), "ok", "hello\n"},
		{"end without close_notify", say(faultnet.Send("20 text/plain\r\nhello\n"), faultnet.Cut()), "ok", "hello\n"},
		{"failure without close_notify", say(faultnet.Send("51 no\r\n"), faultnet.Cut()), "not-found", ""},
		{"reset in the body", say(faultnet.Send("20 text/plain\r\nhello\n"), faultnet.Reset()), "truncated", "hello\n"},
		{"silent in the body", say(faultnet.Send("20 text/plain\r\nhello\n"), faultnet.Stall()), "timeout", "hello\n"},
		{"silent", say(faultnet.Stall()), "timeout", ""},
		{"silent in the header", say(faultnet.Send("20 tex"), faultnet.Stall()), "timeout", ""},
		{"header sent slowly", say(faultnet.SendSlow("20 "+strings.Repeat("x", 1000), 1, 10*time.Second)), "timeout", ""},
		{"reset before the header", say(faultnet.Reset()), "connect", ""},
		{"closed before the header", say(), "connect", ""},
		{"closed in the header", say(faultnet.Send("20 text/pl")), "connect", ""},
		{"closed in the status code", say(faultnet.Send("2")), "connect", ""},
		{"silent in the status code", say(faultnet.Send("2"), faultnet.Stall()), "timeout", ""},
		{"closed in another text", say(faultnet.Send("hello")), "protocol", ""},
		{"endless header", say(faultnet.Send("20 " + strings.Repeat("x", 1<<20))), "protocol", ""},
		{"header of 1025 bytes", say(faultnet.Send("20 " + strings.Repeat("a", 1025) + "\r\n")), "protocol", ""},
		{"control character in the header", say(faultnet.Send("51 \x1b[2J\r\n")), "protocol", ""},
		{"invalid UTF-8 in the header", say(faultnet.Send("20 text/\xff\r\n")), "protocol", ""},
		{"code of three digits", say(faultnet.Send("200 OK\r\n")), "protocol", ""},
		{"code 07", say(faultnet.Send("07 x\r\n")), "protocol", ""},
		{"code 99", say(faultnet.Send("99 x\r\n")), "protocol", ""},
		{"HTTP", say(faultnet.Send("HTTP/1.1 200 OK\r\n\r\n")), "protocol", ""},
		{"endless body", say(faultnet.Send("20 text/plain\r\n"), faultnet.SendBytes(1<<40)), "too-large", ""},
		{"input", say(faultnet.Send("10 words?\r\n")), "need-query", ""},
		{"secret input", say(faultnet.Send("11 password?\r\n")), "need-query", ""},
		{"redirect without a URL", say(faultnet.Send("30\r\n")), "protocol", ""},
		{"redirect to an invalid URL", say(faultnet.Send("30 gemini://[::\r\n")), "protocol", ""},
		{"redirect to a file", say(faultnet.Send("30 file:///etc/passwd\r\n")), "unsupported", ""},
		{"redirect to another service", say(faultnet.Send("30 gemini://192.0.2.1:25/\r\n")), "policy-port", ""},
		{"temporary failure", say(faultnet.Send("40 later\r\n")), "server-temp", ""},
		{"too many requests", say(faultnet.Send("44 30\r\n")), "server-temp", ""},
		{"CGI error", say(faultnet.Send("42 oops\r\n")), "server-perm", ""},
		{"failure", say(faultnet.Send("50 no\r\n")), "server-perm", ""},
		{"not found", say(faultnet.Send("51 no\r\n")), "not-found", ""},
		{"gone", say(faultnet.Send("52 no\r\n")), "not-found", ""},
		{"bad request", say(faultnet.Send("59\r\n")), "server-perm", ""},
		{"certificate required", say(faultnet.Send("60 who?\r\n")), "auth", ""},
		{"certificate rejected", say(faultnet.Send("61 no\r\n")), "auth", ""},
		{"no TLS", faultnet.Script{faultnet.Send("20 text/plain\r\n"), faultnet.Stall()}, "tls", ""},
		{"end in the handshake", faultnet.Script{faultnet.TLSCut()}, "connect", ""},
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: gemini.Schemes(inTemp(t)), Address: "192.0.2.1:1965", URL: "gemini://192.0.2.1/x", Script: test.script, MaxBody: 1 << 20,
			})
			if test.fault == "too-large" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
			var e *fetch.Error
			if test.name == "too many requests" && (!errors.As(r.Err, &e) || e.RetryAfter != 30*time.Second || e.Code != 44) {
				t.Errorf("got %#v", e)
			}
		})
	}
}

// TestRedirects checks that a redirect is subject to the policy.
func TestRedirects(t *testing.T) {
	certs := faultnet.NewCerts(t, "198.41.0.4")
	for to, want := range map[string]fetch.Fault{
		"gemini://198.41.0.5/": 0, "gemini://10.0.0.1/": fetch.BadAddress, "http://198.41.0.5/": fetch.Unsupported,
	} {
		synctest.Test(t, func(t *testing.T) {
			n := faultnet.NewNetwork(t)
			one := n.Serve("198.41.0.4:1965", faultnet.Script{certs.SelfSigned(), faultnet.Expect("\r\n$"), faultnet.Send("30 " + to + "\r\n"), faultnet.Cut()})
			two := n.Serve("198.41.0.5:1965", faultnet.Script{certs.SelfSigned(), faultnet.Expect("\r\n$"), faultnet.Send("20 text/plain\r\nhere")})
			c := schemetest.NewClient(t, gemini.Schemes(inTemp(t)), func(o *fetch.Options) { o.Dial = n.Dial })
			if _, body, err := schemetest.Read(t, c, "gemini://198.41.0.4/a"); fetch.FaultOf(err) != want || want == 0 && body != "here" {
				t.Errorf("%s: got %q, %v, want %v", to, body, err, want)
			}
			c.Close()
			one.Close()
			two.Close()
		})
	}
}

// TestNoCloseNotify checks that a document without close_notify is delivered
// with a doubt and a note, also after a redirect, and is an error with Strict.
func TestNoCloseNotify(t *testing.T) {
	certs := faultnet.NewCerts(t, "198.41.0.4")
	for _, strict := range []bool{false, true} {
		for _, cut := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				answer := func(text string) faultnet.Script {
					s := faultnet.Script{certs.SelfSigned(), faultnet.Expect("\r\n$"), faultnet.Send(text)}
					if cut {
						s = append(s, faultnet.Cut())
					}
					return s
				}
				server := n.Serve("198.41.0.4:1965", answer("30 /b\r\n"), answer("20 text/plain\r\nhere"))
				o := inTemp(t)
				o.Strict = strict
				c := schemetest.NewClient(t, gemini.Schemes(o), func(o *fetch.Options) { o.Dial = n.Dial })
				var notes []string
				req := schemetest.NewRequest(t, "gemini://198.41.0.4/a")
				req.Trace = &trace.Trace{Note: func(text string) { notes = append(notes, text) }}
				resp, err := c.Do(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				noted := slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "close_notify") })
				if string(body) != "here" || (fetch.FaultOf(err) == fetch.Truncated) != (strict && cut) ||
					(resp.Doubt != "") != (cut && !strict) || noted != (cut && !strict) {
					t.Errorf("strict %v, cut %v: got %q, %v, doubt %q, notes %q", strict, cut, body, err, resp.Doubt, notes)
				}
				c.Close()
				server.Close()
			})
		}
	}
}

// TestPlan checks the request of each form of URL.
func TestPlan(t *testing.T) {
	schemetest.Plans(t, gemini.Schemes(gemini.Options{})[0], map[string]string{
		"gemini://h":                "send gemini://h/",
		"gemini://h?q":              "send gemini://h/?q",
		"gemini://h/a%0D%0Ab?c#d":   "send gemini://h/a%0D%0Ab?c",
		"gemini://u:p@h:1966/":      "send gemini://h:1966/",
		"gemini:/x":                 "invalid-uri: no host",
		"gemini://h/" + long[:1014]: "invalid-uri: URL of 1025 bytes, longer than the maximum of 1024",
		"gemini://h/" + long[:1013]: "send gemini://h/" + long[:1013],
	})
}

var long = strings.Repeat("x", 2000)

// TestQuery checks the URLs of searches.
func TestQuery(t *testing.T) {
	query := gemini.Schemes(gemini.Options{})[0].Search
	for words, want := range map[string]string{
		"a b":          "gemini://h/find?a%20b",
		"a+b&c=d%\r\n": "gemini://h/find?a%2Bb%26c%3Dd%25%0D%0A",
		"":             "",
	} {
		got, err := query(schemetest.NewRequest(t, "gemini://h/find?old#part").URL, fetch.Search{Words: words})
		if got.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %s, %v, want %s", words, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	schemetest.Names(t, gemini.Schemes(inTemp(t)), "gemini://h.example/")
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	o := inTemp(t)
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return gemini.Schemes(o) }, URLs: []string{"gemini://192.0.2.1/a"}, Body: "hello",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:1965", faultnet.Script{certs.TLS(), faultnet.Expect("\r\n$"), faultnet.Send("20 text/plain\r\nhello")}).Close
		},
	}.Run(t)
}
