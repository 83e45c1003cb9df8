package gopher_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/uri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fetchURL(ctx context.Context, t *testing.T, c *fetch.Client, url string) schemetest.Result {
	return schemetest.Exchange(ctx, c, schemetest.NewRequest(t, url))
}

// TestFaults checks the faults of failing connections and invalid responses.
// Time is simulated.
func TestFaults(t *testing.T) {
	line := faultnet.Expect("\r\n$")
	strict := gopher.Options{Strict: true}
	for _, c := range []struct {
		name, path string
		o          gopher.Options
		script     faultnet.Script
		fault      string
		body       string
		took       time.Duration // maximum duration
	}{
		{"connection refused", "/9/x", gopher.Options{}, faultnet.Script{faultnet.Refuse()}, "connect", "", 0},
		{"host unreachable", "/9/x", gopher.Options{}, faultnet.Script{faultnet.Blackhole()}, "timeout", "", 10 * time.Second},
		{"reset before the first byte", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Reset()}, "connect", "", 0},
		{"reset in a binary file", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("half"), faultnet.Reset()}, "truncated", "half", 0},
		{"reset in a text", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("half\r\n"), faultnet.Reset()}, "truncated", "half\r\n", 0},
		{`reset after the "." line of a text`, "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("all\r\n.\r\n"), faultnet.Reset()}, "ok", "all\r\n", 0},
		{`reset after the "." line of a menu`, "/1/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("1a\tb\r\n.\r\n"), faultnet.Reset()}, "ok", "1a\tb\r\n.\r\n", 0},
		{"reset in a menu", "/1/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("1half"), faultnet.Reset()}, "truncated", "1half", 0},
		{"stall before the first byte", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Stall()}, "timeout", "", time.Minute},
		{"stall in the body", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("half"), faultnet.Stall()}, "timeout", "half", time.Minute},
		{`stall after the "." line of a text`, "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("all\r\n.\r\n"), faultnet.Stall()}, "timeout", "all\r\n", time.Minute},
		{"stall in a Gopher+ header", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+4"), faultnet.Stall()}, "timeout", "", time.Minute},
		{"stall in a possible error line", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3"), faultnet.Stall()}, "timeout", "", time.Minute},
		{"stall in a possible error page", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3a\tb\tc\t1\r\n"), faultnet.Stall()}, "timeout", "", time.Minute},
		{"one byte at a time", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.SendSlow(strings.Repeat("x", 1000), 5, time.Second)}, "timeout", strings.Repeat("x", 305), 62 * time.Second},

		{"unknown length", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("what there is")}, "ok", "what there is", 0},
		{`text without the "." line`, "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("what there is\r\n")}, "ok", "what there is\r\n", 0},
		{`text without the "." line, strict`, "/0/x", strict, faultnet.Script{line, faultnet.Send("what there is\r\n")}, "truncated", "what there is\r\n", 0},
		{`text with the "." line, strict`, "/0/x", strict, faultnet.Script{line, faultnet.Send("all\r\n.\r\n")}, "ok", "all\r\n", 0},
		{`menu without the "." line, strict`, "/1/x", strict, faultnet.Script{line, faultnet.Send("1a\tb\r\n")}, "truncated", "1a\tb\r\n", 0},
		{`menu with the "." line, strict`, "/1/x", strict, faultnet.Script{line, faultnet.Send("1a\tb\r\n.\r\n")}, "ok", "1a\tb\r\n.\r\n", 0},
		{"nothing", "/9/x", gopher.Options{}, faultnet.Script{line}, "ok", "", 0},
		{"empty menu", "/1/x", gopher.Options{}, faultnet.Script{line}, "ok", "", 0},
		{`empty menu with the "." line`, "/1/x", strict, faultnet.Script{line, faultnet.Send(".\r\n")}, "ok", ".\r\n", 0},

		{"Gopher+, correct length", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+5\r\n.\r\n.\r"), faultnet.Stall()}, "ok", ".\r\n.\r", 0},
		{"Gopher+, length 0", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+0\r\n"), faultnet.Stall()}, "ok", "", 0},
		{"Gopher+, too few bytes", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+5\r\nfour")}, "truncated", "four", 0},
		{"Gopher+, too many bytes", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+5\r\n12345678")}, "ok", "12345", 0},
		{`Gopher+, data with the "." line`, "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+-1\r\n..\r\n.a\r\n.\r\nmore"), faultnet.Stall()}, "ok", ".\r\n.a\r\n", 0},
		{`Gopher+, data without the "." line`, "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+-1\r\na\r\n")}, "truncated", "a\r\n", 0},
		{"Gopher+, data until the connection is closed", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+-2\r\na\r\n.\r\n")}, "ok", "a\r\n.\r\n", 0},
		{"Gopher+, header with LF", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+1\na")}, "ok", "a", 0},
		{"Gopher+, unknown special length", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+-3\r\na")}, "protocol", "", 0},
		{"Gopher+, length greater than 64 bits", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+9999999999999999999\r\na")}, "protocol", "", 0},
		{"Gopher+, response of 0 bytes", "/9/x%09%09+", gopher.Options{}, faultnet.Script{line}, "protocol", "", 0},
		{"Gopher+ request, menu that begins with an item of type +", "/1/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+12\tx\th\t70\r\n")}, "ok", "+12\tx\th\t70\r\n", 0},
		{"default view from a server without Gopher+", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("+ a text\r\n")}, "ok", "+ a text\r\n", 0},
		{"other view from a server without Gopher+", "/0/x%09%09+a/b", gopher.Options{}, faultnet.Script{line, faultnet.Send("a text\r\n")}, "unsupported", "", 0},
		{"Gopher+, try later", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("--1\r\n2 Admin <a@b>\r\nbusy\r\n.\r\n")}, "server-temp", "", 0},
		{"Gopher+, unknown error code", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("-9\r\n7 no way\n")}, "server-perm", "", 0},
		{"Gopher+, truncated error", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("--1\r\n1 Admin")}, "not-found", "", 0},
		{"Gopher+, error without text", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("--2\r\n")}, "server-perm", "", 0},
		{"Gopher+, moved to itself", "/0/x%09%09+", gopher.Options{}, faultnet.Script{line, faultnet.Send("--1\r\n3 Admin <a@b>\r\n0x\tx%09%09+\t192.0.2.1\t70\t+\r\n.\r\n")}, "policy-address", "", 0},

		{"error item without host and port", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\t\t\t\r\n.\r\n")}, "not-found", "", 0},
		{"error item with an IP address", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\tErr\t127.0.0.1\t70\r\n")}, "not-found", "", 0},
		{"error item with a placeholder host", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\tfake\t(NULL)\t0\r\n")}, "not-found", "", 0},
		{"table of numbers with TABs", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3\t14\t15\t92\n3\tc\td\t70\n")}, "ok", "3\t14\t15\t92\n3\tc\td\t70\n", 0},
		{"table of decimal numbers", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3.1\t4.1\t5.9\t26\n")}, "ok", "3.1\t4.1\t5.9\t26\n", 0},
		{"error item in the response for a binary file", "/9/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\t\terror.host\t1\r\n.\r\n")}, "not-found", "", 0},
		{"error item with informational text", "/1/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\terr\tnull.host\t1\r\ni\t\t\t0\r\n")}, "not-found", "", 0},
		{"error item with other items", "/1/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3gone\terr\tnull.host\t1\r\n1up\t\th\t70\r\n")}, "ok", "3gone\terr\tnull.host\t1\r\n1up\t\th\t70\r\n", 0},
		{"text that begins like an error item", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3 apples\t1\r\n")}, "ok", "3 apples\t1\r\n", 0},
		{"long text that begins like an error item", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("3a\tb\tc\td\r\n" + strings.Repeat("3", 5000))}, "ok", "3a\tb\tc\td\r\n" + strings.Repeat("3", 5000), 0},
		{`text that begins with "Error:"`, "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("Error: a poem\r\n")}, "ok", "Error: a poem\r\n", 0},
		{"text that begins like a Gopher+ error", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("--1\r\n-- 2\r\n")}, "ok", "--1\r\n-- 2\r\n", 0},
		{"access denied", "/0/x", gopher.Options{}, faultnet.Script{line, faultnet.Send("Error: Access denied!\r\n")}, "server-perm", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:70", c.script)
				got := fetchURL(t.Context(), t, clientOf(t, c.o, func(o *fetch.Options) { o.Dial = n.Dial }), "gopher://192.0.2.1"+c.path)
				got.Check(t, c.fault, c.body, c.took)
				if err := s.Err(); err != nil {
					t.Errorf("server: %v", err)
				}
				s.Close()
			})
		})
	}
}

// TestUnknownLength checks that a note reports a response that may be
// incomplete.
func TestUnknownLength(t *testing.T) {
	for path, want := range map[string]struct {
		size  int64
		noted bool
	}{"/9/x": {-1, false}, "/0/x": {-1, true}, "/1/x": {-1, true}, "/9/x%09%09+": {-1, false}} {
		n := faultnet.NewNetwork(t)
		n.Serve("192.0.2.1:70", faultnet.Script{faultnet.Expect("\n"), faultnet.Send("x\r\n")})
		got := fetchURL(t.Context(), t, client(t, func(o *fetch.Options) { o.Dial = n.Dial }), "gopher://192.0.2.1"+path)
		noted := slices.ContainsFunc(got.Notes, func(s string) bool { return strings.Contains(s, "may be incomplete") })
		if got.Err != nil || got.Response.Size != want.size || noted != want.noted {
			t.Errorf("%s: size %d, notes %q, %v", path, got.Response.Size, got.Notes, got.Err)
		}
	}
}

// TestEndless checks that a body of unlimited size is rejected at the limit.
func TestEndless(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:70", faultnet.Script{faultnet.Expect("\n"), faultnet.SendBytes(1 << 40)})
	c := client(t, func(o *fetch.Options) { o.Dial, o.Policy.MaxBody = n.Dial, 2<<20 })
	for _, item := range "019h" {
		if got := fetchURL(t.Context(), t, c, fmt.Sprintf("gopher://192.0.2.1/%c/x", item)); !errors.Is(got.Err, fetch.TooLarge) {
			t.Errorf("type %c: got %d bytes, %v", item, len(got.Body), got.Err)
		}
	}
}

// TestEndlessAttributes checks that attributes beyond the limit are an error
// and not truncated silently.
func TestEndlessAttributes(t *testing.T) {
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:70", faultnet.Script{faultnet.Expect("\n"),
		faultnet.Send("+-2\r\n+INFO: 0x\t/x\th\t70\t+\r\n+ABSTRACT:\r\n" + strings.Repeat(" word\r\n", 1<<18))})
	c := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
	u := uri.MustParse("gopher://192.0.2.1/0/x%09%09!")
	if _, err := c.Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Stat}); !errors.Is(err, fetch.TooLarge) {
		t.Errorf("got %v", err)
	}
}

// TestSlowAttributes checks that a server cannot hold a request open with slow
// attributes, which the driver reads before it returns the response.
func TestSlowAttributes(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		op   fetch.Op
		o    gopher.Options
	}{
		"metadata": {"/0/x%09%09!", fetch.Stat, gopher.Options{}},
		"form":     {"/0/x%09%09?", fetch.Get, gopher.Options{}},
		"views":    {"/0/x", fetch.Get, gopher.Options{View: "text/html"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				s := n.Serve("192.0.2.1:70", faultnet.Script{faultnet.Expect("\n"), faultnet.Send("+-2\r\n+INFO: 0x\t/x\th\t70\t+\r\n"),
					faultnet.SendSlow(strings.Repeat("x", 1000), 1, 50*time.Second)})
				client := clientOf(t, c.o, func(o *fetch.Options) { o.Dial = n.Dial })
				start := time.Now()
				_, err := client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("gopher://192.0.2.1" + c.path), Op: c.op})
				if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took > 3*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
				s.Close()
			})
		})
	}
}

// TestMoved checks that the new location in a Gopher+ error is followed and
// subject to the policy.
func TestMoved(t *testing.T) {
	n := faultnet.NewNetwork(t)
	moved := func(line string) faultnet.Script {
		return faultnet.Script{faultnet.Expect("\n"), faultnet.Send("--1\r\n3 Admin <a@b>\r\n" + line + "\r\n.\r\n")}
	}
	n.Serve("198.41.0.4:70", moved("0new\t/new\t198.41.0.5\t70"))
	n.Serve("198.41.0.5:70", faultnet.Script{faultnet.Expect("^/new\r\n$"), faultnet.Send("here\r\n.\r\n")})
	n.Serve("198.41.0.6:70", moved("0self\t/a\t198.41.0.6\t70"), moved("0self\t/a\t198.41.0.6\t70"))
	n.Serve("198.41.0.7:70", moved("0in\t/a\t10.0.0.1\t70"))
	n.Serve("198.41.0.8:70", moved("hfile\tURL:file:///etc/passwd\t198.41.0.8\t70"))
	c := client(t, func(o *fetch.Options) { o.Dial = n.Dial })
	if got := fetchURL(t.Context(), t, c, "gopher://198.41.0.4/0/a%09%09+"); got.Body != "here\r\n" || len(got.Response.Chain) != 1 {
		t.Errorf("got %q, %v", got.Body, got.Err)
	}
	for host, want := range map[string]fetch.Fault{"6": fetch.NotFound, "7": fetch.BadAddress, "8": fetch.Unsupported} {
		got := fetchURL(t.Context(), t, c, "gopher://198.41.0."+host+"/0/a%09%09+")
		if !errors.Is(got.Err, want) {
			t.Errorf("%s: got %v, want %v", host, got.Err, want)
		}
	}
}

// TestTLSFaults checks that gophers never falls back to plaintext, and that no
// selector is sent to a server with an invalid certificate.
func TestTLSFaults(t *testing.T) {
	for _, c := range []struct {
		name, fault, body string
		took              time.Duration
		script            func(*faultnet.Certs) faultnet.Script
	}{
		{"valid certificate", "ok", "hello", 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{c.TLS(), faultnet.Expect("^/x\r\n$"), faultnet.Send("hello")}
		}},
		{"connection closed without close_notify", "ok", "hello", 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{c.TLS(), faultnet.Expect("^/x\r\n$"), faultnet.Send("hello"), faultnet.Cut()}
		}},
		{"self-signed", "tls", "", 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.SelfSigned()} }},
		{"expired", "tls", "", 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.Expired()} }},
		{"certificate of another host", "tls", "", 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{c.WrongHost()} }},
		{"plaintext server", "tls", "", 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{faultnet.Expect("^\x16"), faultnet.Send("3not here\t\terror.host\t1\r\n"), faultnet.Stall()}
		}},
		{"handshake stalls", "timeout", "", 10 * time.Second, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{faultnet.TLSStall()} }},
		{"unsupported TLS version", "tls", "", 0, func(c *faultnet.Certs) faultnet.Script {
			return faultnet.Script{faultnet.Send("\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01" + strings.Repeat("r", 32) + "\x00\x00\x2f\x00"), faultnet.Stall()}
		}},
		{"connection closed in the handshake", "connect", "", 0, func(c *faultnet.Certs) faultnet.Script { return faultnet.Script{faultnet.TLSCut()} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				certs := faultnet.NewCerts(t, "192.0.2.1")
				s := n.Serve("192.0.2.1:70", c.script(certs))
				client := client(t, func(o *fetch.Options) {
					o.Dial, o.TLS = n.Dial, &tls.Config{RootCAs: certs.Pool}
				})
				got := fetchURL(t.Context(), t, client, "gophers://192.0.2.1/9/x")
				got.Check(t, c.fault, c.body, c.took)
				s.Close()
			})
		})
	}
}

func TestNames(t *testing.T) { schemetest.Names(t, schemes(), "gopher://h.example/1") }

// TestSweep injects a failure into each network operation of a form submission.
func TestSweep(t *testing.T) {
	umn := recorded(t, "umn")
	o := gopher.Options{FillForm: func(_ context.Context, f gopher.Form) ([]string, error) {
		return f.Fill(map[string]string{"1": "Alice", "3": "secret", "4": "x"}, nil)
	}}
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return gopher.Schemes(o) },
		URLs:    []string{"gopher://192.0.2.1/00/survey%09%09?"},
		Body:    "Got answers:\r\nAlice\r\nalice@example.org\r\nsecret\r\n2\r\nline one\r\nline two\r\n1\r\nred\r\n",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:70",
				faultnet.Script{faultnet.Expect("!\r\n$"), faultnet.Send(umn["ASK item attributes"].response)},
				faultnet.Script{faultnet.Expect("\n\\.\r\n$"), faultnet.Send(umn["ASK submission"].response)}).Close
		},
	}.Run(t)
}
