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
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/schemetest"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// greeting is how a server of RFC 3977 begins.
func greeting() faultnet.Script {
	return faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Expect("^CAPABILITIES\r\n"),
		faultnet.Send("101 ok\r\nVERSION 2\r\nREADER\r\n.\r\n")}
}

func after(steps ...faultnet.Step) faultnet.Script { return append(greeting(), steps...) }

// article1 is the answer to GROUP and ARTICLE 1 up to the article.
var article1 = []faultnet.Step{faultnet.Expect("^GROUP g\r\nARTICLE 1\r\n"), faultnet.Send("211 1 1 1 g\r\n220 1 <1@h>\r\n")}

// TestFaults: what goes wrong, which class of error that is, and how long it
// takes to know.
func TestFaults(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	listed := []faultnet.Step{faultnet.Expect("^GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"), faultnet.Expect("^LISTGROUP g 1-2\r\n"), faultnet.Send("211 ok\r\n1\r\n2\r\n.\r\n")}
	articles := append(listed, faultnet.Expect("^ARTICLE 1\r\nARTICLE 2\r\n"))
	for name, c := range map[string]struct {
		url    string // of nntp://192.0.2.1/; "": g/1
		script faultnet.Script
		policy fetch.Policy
		fault  fetch.Fault
		within time.Duration
	}{
		"refused":                    {script: faultnet.Script{faultnet.Refuse()}, fault: fetch.Connect},
		"host is down":               {script: faultnet.Script{faultnet.Blackhole()}, fault: fetch.Timeout, within: 10 * time.Second},
		"silent":                     {script: faultnet.Script{faultnet.Stall()}, fault: fetch.Timeout, within: time.Minute},
		"greeting in drops":          {script: faultnet.Script{faultnet.SendSlow("200"+strings.Repeat(" hello", 1000), 1, 10*time.Second)}, fault: fetch.Timeout, within: time.Minute},
		"silent in capabilities":     {script: after()[:2], fault: fetch.Connect},
		"endless capabilities":       {script: faultnet.Script{faultnet.Send("200 x\r\n"), faultnet.Expect("^CAP"), faultnet.Send("101 x\r\n" + strings.Repeat("X\r\n", 2000))}, fault: fetch.Protocol},
		"reset before the answer":    {script: after(faultnet.Expect("GROUP"), faultnet.Reset()), fault: fetch.Connect},
		"reset in the article":       {script: after(append(article1, faultnet.Send("x\r\n"), faultnet.Reset())...), fault: fetch.Truncated},
		"end in the article":         {script: after(append(article1, faultnet.Send("x\r\n.."), faultnet.Fin())...), fault: fetch.Truncated},
		"stall in the article":       {script: after(append(article1, faultnet.Send("x\r\n"), faultnet.Stall())...), fault: fetch.Timeout, within: time.Minute},
		"article in drops":           {script: after(append(article1, faultnet.SendSlow(strings.Repeat("x", 1000), 1, time.Second))...), fault: fetch.Timeout, within: 2 * time.Minute},
		"endless article":            {script: after(append(article1, faultnet.SendBytes(10<<20))...), policy: fetch.Policy{MaxBody: 1 << 20}, fault: fetch.TooLarge},
		"line of a megabyte":         {script: after(append(article1, faultnet.Send(strings.Repeat("x", 1<<20)+"\r\n.\r\n"))...)},
		"reply of a megabyte":        {script: after(faultnet.Expect("GROUP"), faultnet.Send("211 "+strings.Repeat("x", 1<<20)+"\r\n")), fault: fetch.Protocol},
		"server ends":                {script: after(faultnet.Expect("GROUP"), faultnet.Send("400 going down\r\n")), fault: fetch.TryLater},
		"no number":                  {url: "g", script: after(faultnet.Expect("GROUP"), faultnet.Send("211 many 1 2 g\r\n")), fault: fetch.Protocol},
		"two numbers":                {url: "g", script: after(faultnet.Expect("GROUP"), faultnet.Send("211 1 2\r\n")), fault: fetch.Protocol},
		"overview is cut":            {url: "g", script: after(faultnet.Expect("GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"), faultnet.Expect("XOVER 1-2\r\n"), faultnet.Send("224 ok\r\n1\ta\r\n")), fault: fetch.Truncated},
		"list of groups is cut":      {url: "", script: after(faultnet.Expect("LIST ACTIVE"), faultnet.Send("215 ok\r\na 1 1 y\r\n")), fault: fetch.Truncated},
		"numbers that fall":          {url: "g/1-2", script: after(append(listed[:3:3], faultnet.Send("211 ok\r\n2\r\n1\r\n.\r\n"))...), fault: fetch.Protocol},
		"numbers that are none":      {url: "g/1-2", script: after(append(listed[:3:3], faultnet.Send("211 ok\r\nx\r\n.\r\n"))...), fault: fetch.Protocol},
		"numbers beyond the range":   {url: "g/1-2", script: after(append(listed[:3:3], faultnet.Send("211 ok\r\n7\r\n8\r\n.\r\n"))...), fault: fetch.NotFound},
		"numbers in drops":           {url: "g/1-2", script: after(append(listed[:3:3], faultnet.SendSlow("211 ok\r\n"+rising(1000), 1, time.Second))...), fault: fetch.Timeout, within: 2 * time.Minute},
		"batch is cut":               {url: "g/1-2", script: after(append(articles, faultnet.Send("220 1 <1@h>\r\nx\r\n.\r\n"), faultnet.Fin())...), fault: fetch.Truncated},
		"batch in drops":             {url: "g/1-2", script: after(append(articles, faultnet.Send("220 1 <1@h>\r\n"), faultnet.SendSlow(strings.Repeat("x", 1000), 1, time.Second))...), fault: fetch.Timeout, within: 2 * time.Minute},
		"batch stalls":               {url: "g/1-2", script: after(append(articles, faultnet.Send("220 1 <1@h>\r\nx\r\n"), faultnet.Stall())...), fault: fetch.Timeout, within: 2 * time.Minute},
		"batched article is endless": {url: "g/1-2", script: after(append(articles, faultnet.Send("220 1 <1@h>\r\n"), faultnet.SendBytes(10<<20))...), fault: fetch.TooLarge},
		"batch out of step":          {url: "g/1-2", script: after(append(articles, faultnet.Send("220 2 <2@h>\r\nx\r\n.\r\n"))...), fault: fetch.Protocol},
		"batch with another block":   {url: "g/1-2", script: after(append(articles, faultnet.Send("221 1 <1@h>\r\nx\r\n.\r\n"))...), fault: fetch.Protocol},
		"range without an end":       {url: "g/1-9999999999999999", script: faultnet.Script{faultnet.Send("200 x\r\n"), faultnet.Lines(faultnet.On("CAPABILITIES|MODE", 0, faultnet.Send("500 x\r\n")), faultnet.On("GROUP", 0, faultnet.Send("211 1 1 9999999999999999 g\r\n")), faultnet.On("ARTICLE", 0, faultnet.Send("423 no\r\n")))}, fault: fetch.TooLarge},
		"certificate of another":     {url: "nntps", script: faultnet.Script{certs.WrongHost()}, fault: fetch.TLS},
		"certificate expired":        {url: "nntps", script: faultnet.Script{certs.Expired()}, fault: fetch.TLS},
		"certificate of nobody":      {url: "nntps", script: faultnet.Script{certs.SelfSigned()}, fault: fetch.TLS},
		"handshake stalls":           {url: "nntps", script: faultnet.Script{faultnet.TLSStall()}, fault: fetch.Timeout, within: 10 * time.Second},
		"handshake is cut":           {url: "nntps", script: faultnet.Script{faultnet.TLSCut()}, fault: fetch.Connect},
		"no TLS at all":              {url: "nntps", script: faultnet.Script{faultnet.Send("200 hello\r\n"), faultnet.Stall()}, fault: fetch.TLS},
		"TLS ends without its alert": {url: "nntps", script: append(append(faultnet.Script{certs.TLS()}, after(article1...)...), faultnet.Send("x\r\n"), faultnet.Cut()), fault: fetch.Truncated},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				url := "nntp://192.0.2.1/" + c.url
				switch {
				case c.url == "nntps":
					url = "nntps://192.0.2.1:119/g/1"
				case c.url == "" && !strings.HasPrefix(name, "list"):
					url += "g/1"
				}
				net := faultnet.NewNetwork(t)
				server := net.Serve("192.0.2.1:119", c.script)
				opts := fetch.Options{Policy: c.policy, Dial: net.Dial, TLS: &tls.Config{RootCAs: certs.Pool}}
				opts.Policy.Reach = fetch.Anywhere
				client := fetch.New(opts, nntp.Schemes(nntp.Options{})...)
				start := time.Now()
				_, _, err := schemetest.Read(t, client, url)
				if fetch.FaultOf(err) != c.fault || time.Since(start) > c.within {
					t.Errorf("got %v after %v, want %v within %v", err, time.Since(start), c.fault, c.within)
				}
				client.Close()
				if err := server.Err(); err != nil && name != "range without an end" {
					t.Error(err)
				}
			})
		})
	}
}

func rising(count int) (lines string) {
	for n := range count {
		lines += fmt.Sprintf("%d\r\n", n+1)
	}
	return lines
}

// TestSweep lets each operation of a range of articles fail.
func TestSweep(t *testing.T) {
	script := after(faultnet.Expect("^GROUP g\r\n"), faultnet.Send("211 2 1 2 g\r\n"), faultnet.Expect("^LISTGROUP g 1-2\r\n"),
		faultnet.Send("211 ok\r\n1\r\n2\r\n.\r\n"), faultnet.Expect("^ARTICLE 1\r\nARTICLE 2\r\n"),
		faultnet.Send("220 1 <1@h>\r\none\r\n.\r\n"), faultnet.Delay(time.Second), faultnet.Send("220 2 <2@h>\r\n..two.\r\n.\r\n"), faultnet.Stall())
	schemetest.Sweep{Schemes: schemes, URLs: []string{"nntp://192.0.2.1/g/1-2"}, Body: "#! rnews 5\none\r\n#! rnews 7\n.two.\r\n",
		Serve: func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:119", script).Close }}.Run(t)
}

// TestNothingSecretHeard: a trace and an error tell no password.
func TestNothingSecretHeard(t *testing.T) {
	for _, caps := range []string{"AUTHINFO USER", "AUTHINFO SASL\r\nSASL PLAIN"} {
		r := &reciter{answer: func(line string) string {
			switch {
			case line == "CAPABILITIES":
				return "101 ok\r\nREADER\r\n" + caps + "\r\n.\r\n"
			case strings.HasPrefix(line, "AUTHINFO USER"):
				return "381 go on\r\n"
			}
			return "481 no\r\n"
		}}
		r.said.WriteString("200 hello\r\n")
		c := clientOf(r, nntp.Options{ClearPassword: true})
		defer c.Close()
		var heard bytes.Buffer
		req := &fetch.Request{URL: uri.MustParse("nntp://alice:s3cret@192.0.2.1/g/1"), Trace: &fetch.Trace{Sent: func(p []byte) { heard.Write(p) }}}
		_, _, err := schemetest.ReadRequest(t, c, req)
		all := fmt.Sprint(err) + heard.String()
		if !errors.Is(err, fetch.Auth) || strings.Contains(all, "s3cret") || strings.Contains(all, "AGFsaWNl") || !strings.Contains(all, "***\r\n") {
			t.Errorf("got %v, heard %q", err, heard.String())
		}
		if sent := strings.Join(r.heard(), ""); !strings.Contains(sent, "s3cret\r\n") && !strings.Contains(sent, "AGFsaWNlAHMzY3JldA==\r\n") {
			t.Errorf("sent %q", sent)
		}
	}
}

// TestMemory: a hostile answer takes no more memory than an honest one.
func TestMemory(t *testing.T) {
	for name, script := range map[string]faultnet.Script{
		"greeting":           {faultnet.Send("200 "), faultnet.SendBytes(64 << 20)},
		"capabilities":       {faultnet.Send("200 x\r\n101 x\r\n"), faultnet.Send(strings.Repeat("X", 8000)), faultnet.SendBytes(64 << 20)},
		"article of a batch": after(faultnet.Expect("GROUP"), faultnet.Send("211 2 1 2 g\r\n211 ok\r\n1\r\n2\r\n.\r\n220 1 <1@h>\r\n"), faultnet.SendBytes(64<<20)),
	} {
		s := faultnet.Listen(t, script)
		c := client(t, nntp.Options{Server: s.Addr().String()})
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := schemetest.Read(t, c, "nntp:g/1-2")
		runtime.ReadMemStats(&now)
		// All that was ever allocated, by the server too.
		if grown := now.TotalAlloc - before.TotalAlloc; err == nil || grown > 128<<20 {
			t.Errorf("%s: %v, %d MiB allocated", name, err, grown>>20)
		}
	}
}
