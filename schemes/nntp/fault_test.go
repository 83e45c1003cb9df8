package nntp_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// greeting returns the first steps of a server that implements RFC 3977.
func greeting() faultnet.Script {
	return faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Expect("^CAPABILITIES\r\n"),
		faultnet.Send("101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n")}
}

func afterGreeting(steps ...faultnet.Step) faultnet.Script { return append(greeting(), steps...) }

// article1Steps are the steps for GROUP and ARTICLE 1 up to the status line of
// the article.
var article1Steps = []faultnet.Step{
	faultnet.Expect("^GROUP g\r\nARTICLE 1\r\n"), faultnet.Send("211 1 1 1 g\r\n220 1 <1@h>\r\n"),
}

// A faultCase is a server or network with an error, and the expected fault.
type faultCase struct {
	url     string // path below nntp://192.0.2.1/; default: g/1
	script  faultnet.Script
	maxBody int64
	fault   fetch.Fault
	within  time.Duration
}

func faultCases(certs *faultnet.Certs) map[string]faultCase {
	listSteps := []faultnet.Step{
		faultnet.Expect("^GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"), faultnet.Expect("^LISTGROUP g 1-2\r\n"),
		faultnet.Send("211 ok\r\n1\r\n2\r\n.\r\n"),
	}
	articleSteps := append(listSteps, faultnet.Expect("^ARTICLE 1\r\nARTICLE 2\r\n"))
	return map[string]faultCase{
		"connection refused": {script: faultnet.Script{faultnet.Refuse()}, fault: fetch.Connect},
		"host is down": {
			script: faultnet.Script{faultnet.Blackhole()},
			fault:  fetch.Timeout,
			within: 10 * time.Second,
		},
		"no greeting": {
			script: faultnet.Script{faultnet.Stall()},
			fault:  fetch.Timeout,
			within: time.Minute,
		},
		"slow greeting": {
			script: faultnet.Script{faultnet.SendSlow("200"+strings.Repeat(" hello", 1000), 1, 10*time.Second)},
			fault:  fetch.Timeout,
			within: time.Minute,
		},
		"close before the capabilities": {script: afterGreeting()[:2], fault: fetch.Connect},
		"endless capabilities": {
			script: faultnet.Script{
				faultnet.Send("200 x\r\n"), faultnet.Expect("^CAP"), faultnet.Send("101 x\r\n" + strings.Repeat("X\r\n", 2000)),
			},
			fault: fetch.Protocol,
		},
		"reset before the answer": {
			script: afterGreeting(faultnet.Expect("GROUP"), faultnet.Reset()),
			fault:  fetch.Connect,
		},
		"reset in the article": {
			script: afterGreeting(append(article1Steps, faultnet.Send("x\r\n"), faultnet.Reset())...),
			fault:  fetch.Truncated,
		},
		"close in the article": {
			script: afterGreeting(append(article1Steps, faultnet.Send("x\r\n.."), faultnet.Fin())...),
			fault:  fetch.Truncated,
		},
		"stall in the article": {
			script: afterGreeting(append(article1Steps, faultnet.Send("x\r\n"), faultnet.Stall())...),
			fault:  fetch.Timeout,
			within: time.Minute,
		},
		"slow article": {
			script: afterGreeting(append(article1Steps, faultnet.SendSlow(strings.Repeat("x", 1000), 1, time.Second))...),
			fault:  fetch.Timeout,
			within: 2 * time.Minute,
		},
		"endless article": {
			script:  afterGreeting(append(article1Steps, faultnet.SendBytes(10<<20))...),
			maxBody: 1 << 20,
			fault:   fetch.TooLarge,
		},
		"line of 1 MiB": {script: afterGreeting(append(
			article1Steps, faultnet.Send(strings.Repeat("x", 1<<20)+"\r\n.\r\n"),
		)...)},
		"reply of 1 MiB": {
			script: afterGreeting(faultnet.Expect("GROUP"), faultnet.Send("211 "+strings.Repeat("x", 1<<20)+"\r\n")),
			fault:  fetch.Protocol,
		},
		"server ends the session": {
			script: afterGreeting(faultnet.Expect("GROUP"), faultnet.Send("400 going down\r\n")),
			fault:  fetch.TryLater,
		},
		"GROUP reply without numbers": {
			url:    "g",
			script: afterGreeting(faultnet.Expect("GROUP"), faultnet.Send("211 many 1 2 g\r\n")),
			fault:  fetch.Protocol,
		},
		"GROUP reply with two numbers": {
			url:    "g",
			script: afterGreeting(faultnet.Expect("GROUP"), faultnet.Send("211 1 2\r\n")),
			fault:  fetch.Protocol,
		},
		"truncated overview": {
			url: "g",
			script: afterGreeting(
				faultnet.Expect("GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"), faultnet.Expect("XOVER 1-2\r\n"),
				faultnet.Send("224 ok\r\n1\ta\r\n"),
			),
			fault: fetch.Truncated,
		},
		"list of groups is truncated": {
			url:    "*",
			script: afterGreeting(faultnet.Expect("LIST ACTIVE"), faultnet.Send("215 ok\r\na 1 1 y\r\n")),
			fault:  fetch.Truncated,
		},
		"descending numbers": {
			url:    "g/1-2",
			script: afterGreeting(append(listSteps[:3:3], faultnet.Send("211 ok\r\n2\r\n1\r\n.\r\n"))...),
			fault:  fetch.Protocol,
		},
		"invalid number": {
			url:    "g/1-2",
			script: afterGreeting(append(listSteps[:3:3], faultnet.Send("211 ok\r\nx\r\n.\r\n"))...),
			fault:  fetch.Protocol,
		},
		"numbers beyond the range": {
			url:    "g/1-2",
			script: afterGreeting(append(listSteps[:3:3], faultnet.Send("211 ok\r\n7\r\n8\r\n.\r\n"))...),
			fault:  fetch.NotFound,
		},
		"slow list of numbers": {
			url:    "g/1-2",
			script: afterGreeting(append(listSteps[:3:3], faultnet.SendSlow("211 ok\r\n"+numberLines(1000), 1, time.Second))...),
			fault:  fetch.Timeout,
			within: 2 * time.Minute,
		},
		"truncated batch": {
			url:    "g/1-2",
			script: afterGreeting(append(articleSteps, faultnet.Send("220 1 <1@h>\r\nx\r\n.\r\n"), faultnet.Fin())...),
			fault:  fetch.Truncated,
		},
		"slow batch": {
			url: "g/1-2",
			script: afterGreeting(append(
				articleSteps, faultnet.Send("220 1 <1@h>\r\n"), faultnet.SendSlow(strings.Repeat("x", 1000), 1, time.Second),
			)...),
			fault:  fetch.Timeout,
			within: 2 * time.Minute,
		},
		"stall in the batch": {
			url:    "g/1-2",
			script: afterGreeting(append(articleSteps, faultnet.Send("220 1 <1@h>\r\nx\r\n"), faultnet.Stall())...),
			fault:  fetch.Timeout,
			within: 2 * time.Minute,
		},
		"endless article in a batch": {
			url:    "g/1-2",
			script: afterGreeting(append(articleSteps, faultnet.Send("220 1 <1@h>\r\n"), faultnet.SendBytes(10<<20))...),
			fault:  fetch.TooLarge,
		},
		"batch out of sync": {
			url:    "g/1-2",
			script: afterGreeting(append(articleSteps, faultnet.Send("220 2 <2@h>\r\nx\r\n.\r\n"))...),
			fault:  fetch.Protocol,
		},
		"batch with an unexpected code": {
			url:    "g/1-2",
			script: afterGreeting(append(articleSteps, faultnet.Send("221 1 <1@h>\r\nx\r\n.\r\n"))...),
			fault:  fetch.Protocol,
		},
		"range of missing articles": {
			url: "g/1-9999999999999999",
			script: faultnet.Script{
				faultnet.Send("200 x\r\n"),
				faultnet.Lines(
					faultnet.On("CAPABILITIES|MODE", 0, faultnet.Send("500 x\r\n")),
					faultnet.On("GROUP", 0, faultnet.Send("211 1 1 9999999999999999 g\r\n")),
					faultnet.On("ARTICLE", 0, faultnet.Send("423 no\r\n")),
				),
			},
			fault: fetch.TooLarge,
		},
		"certificate for another host": {url: "nntps", script: faultnet.Script{certs.WrongHost()}, fault: fetch.TLS},
		"expired certificate":          {url: "nntps", script: faultnet.Script{certs.Expired()}, fault: fetch.TLS},
		"untrusted certificate":        {url: "nntps", script: faultnet.Script{certs.SelfSigned()}, fault: fetch.TLS},
		"stall in the handshake": {
			url:    "nntps",
			script: faultnet.Script{faultnet.TLSStall()},
			fault:  fetch.Timeout,
			within: 10 * time.Second,
		},
		"close in the handshake": {url: "nntps", script: faultnet.Script{faultnet.TLSCut()}, fault: fetch.Connect},
		"server without TLS": {
			url:    "nntps",
			script: faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Stall()},
			fault:  fetch.TLS,
		},
		"TLS without close_notify": {
			url: "nntps",
			script: append(
				append(faultnet.Script{certs.TLS()}, afterGreeting(article1Steps...)...), faultnet.Send("x\r\n"), faultnet.Cut(),
			),
			fault: fetch.Truncated,
		},
	}
}

// TestFaults tests the fault and the time limit for errors of servers and
// networks.
func TestFaults(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	for name, c := range faultCases(certs) {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 2)
			synctest.Test(t, func(t *testing.T) {
				url := "nntp://192.0.2.1/" + c.url
				switch {
				case c.url == "nntps":
					url = "nntps://192.0.2.1:119/g/1"
				case c.url == "":
					url += "g/1"
				}
				net := faultnet.NewNetwork(t)
				server := net.Serve("192.0.2.1:119", c.script)
				opts := fetch.Options{Policy: fetch.Typed(), Dial: net.Dial, TLS: &tls.Config{RootCAs: certs.Pool}}
				opts.Policy.MaxBody = c.maxBody
				client := fetch.New(opts, nntp.Schemes(nntp.Options{})...)
				start := time.Now()
				_, _, err := schemetest.Read(t, client, url)
				if fetch.FaultOf(err) != c.fault || time.Since(start) > c.within {
					t.Errorf("got %v after %v, want %v within %v", err, time.Since(start), c.fault, c.within)
				}
				client.Close()
				if err := server.Err(); err != nil && name != "range of missing articles" {
					t.Error(err)
				}
			})
		})
	}
}

func numberLines(count int) (lines string) {
	for n := range count {
		lines += fmt.Sprintf("%d\r\n", n+1)
	}
	return lines
}

// TestSweep tests a failure of each operation in the retrieval of a range.
func TestSweep(t *testing.T) {
	script := afterGreeting(faultnet.Expect("^GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"),
		faultnet.Expect("^LISTGROUP g 1-2\r\n"), faultnet.Send("211 ok\r\n1\r\n2\r\n.\r\n"),
		faultnet.Expect("^ARTICLE 1\r\nARTICLE 2\r\n"),
		faultnet.Send("220 1 <1@h>\r\none\r\n.\r\n"), faultnet.Delay(time.Second),
		faultnet.Send("220 2 <2@h>\r\n..two.\r\n.\r\n"), faultnet.Stall())
	schemetest.Sweep{Schemes: schemes, URLs: []string{"nntp://192.0.2.1/g/1-2"},
		Body:  "#! rnews 5\none\r\n#! rnews 7\n.two.\r\n",
		Serve: func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:119", script).Close }}.Run(t)
}

// TestPasswordMasked tests that traces and errors do not contain the password.
func TestPasswordMasked(t *testing.T) {
	for _, caps := range []string{"AUTHINFO USER", "AUTHINFO SASL\r\nSASL PLAIN"} {
		r := &memoryConn{reply: func(line string) string {
			switch {
			case line == "CAPABILITIES":
				return "101 ok\r\nREADER\r\n" + caps + "\r\n.\r\n"
			case strings.HasPrefix(line, "AUTHINFO USER"):
				return "381 go on\r\n"
			}
			return "481 no\r\n"
		}}
		r.unread.WriteString("200 hello\r\n")
		c := newMemoryClient(r, nntp.Options{ClearPassword: true})
		defer c.Close()
		var sent bytes.Buffer
		req := &fetch.Request{
			URL:   uri.MustParse("nntp://alice:s3cret@192.0.2.1/g/1"),
			Trace: &trace.Trace{Sent: func(p []byte) { sent.Write(p) }},
		}
		_, _, err := schemetest.ReadRequest(t, c, req)
		all := fmt.Sprint(err) + sent.String()
		if !errors.Is(err, fetch.Auth) || strings.Contains(all, "s3cret") || strings.Contains(all, "AGFsaWNl") ||
			!strings.Contains(all, "***\r\n") {
			t.Errorf("got %v, trace %q", err, sent.String())
		}
		if sent := strings.Join(r.sentCommands(), ""); !strings.Contains(sent, "s3cret\r\n") &&
			!strings.Contains(sent, "AGFsaWNlAHMzY3JldA==\r\n") {
			t.Errorf("sent %q", sent)
		}
	}
}

// TestMemory tests that a hostile response does not increase the use of memory.
func TestMemory(t *testing.T) {
	for name, script := range map[string]faultnet.Script{
		"greeting": {faultnet.Send("200 "), faultnet.SendBytes(64 << 20)},
		"capabilities": {
			faultnet.Send("200 x\r\n101 x\r\n"), faultnet.Send(strings.Repeat("X", 8000)), faultnet.SendBytes(64 << 20),
		},
		"article of a batch": afterGreeting(
			faultnet.Expect("GROUP"), faultnet.Send("211 2 1 2 g\r\n211 ok\r\n1\r\n2\r\n.\r\n220 1 <1@h>\r\n"),
			faultnet.SendBytes(64<<20),
		),
	} {
		s := faultnet.Listen(t, script)
		c := newClient(t, nntp.Options{Server: s.Addr().String()})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := schemetest.Read(t, c, "nntp:g/1-2")
		runtime.ReadMemStats(&after)
		// TotalAlloc includes the allocations of the test server.
		if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > 128<<20 {
			t.Errorf("%s: %v, %d MiB allocated", name, err, allocated>>20)
		}
	}
}

// TestSlowReplies checks that a server cannot hold a request open with slow
// replies about missing articles and slow lists without a number, which the driver
// reads before it returns the response.
func TestSlowReplies(t *testing.T) {
	for name, c := range map[string]struct {
		verb    string
		reply   string
		options nntp.Options
	}{
		"batch":    {"ARTICLE", "423 no such article\r\n", nntp.Options{}},
		"overview": {"HEAD", "423 no such article\r\n", nntp.Options{View: nntp.Overview}},
		"list":     {"LISTGROUP", "211 0 0 0 g\r\n.\r\n", nntp.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:119", faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Lines(
					faultnet.On("^GROUP g", 0, faultnet.Send("211 1000 1 9000000000 g\r\n")),
					faultnet.On("^"+c.verb, 0, faultnet.Delay(50*time.Second), faultnet.Send(c.reply)),
					faultnet.On("^CAPABILITIES", 0, faultnet.Send("101 list\r\nVERSION 2\r\nREADER\r\n.\r\n")),
					faultnet.On("", 0, faultnet.Send("500 unknown\r\n")),
				)})
				client := newClient(t, c.options, func(o *fetch.Options) { o.Dial = n.Dial })
				start := time.Now()
				_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("nntp://192.0.2.1/g/1-9000000000")})
				if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took > 3*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
				client.Close()
				synctest.Wait()
				s.Close()
			})
		})
	}
}
