package whois_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/whois"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hosts is a resolver for the servers of the tests.
type hosts map[string]string

func (h hosts) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	if a, ok := h[strings.TrimSuffix(name, ".")]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, errors.New("no such host: " + name)
}

// TestReferrals follows the referrals of real servers, and those of servers that
// refer to private addresses or to themselves.
func TestReferrals(t *testing.T) {
	answer := func(text string) faultnet.Script {
		return faultnet.Script{faultnet.Expect("^1.1.1.1\r\n$"), faultnet.Send(text)}
	}
	for _, test := range []struct {
		name, url   string
		first       string // response of 198.41.0.4, which is whois.iana.org
		fault, body string
		chain       int
	}{
		{"IANA", "whois://whois.iana.org/1.1.1.1", read(t, "iana.txt"), "ok", read(t, "apnic.txt"), 1},
		{"no host", "whois:1.1.1.1", read(t, "iana.txt"), "ok", read(t, "apnic.txt"), 2},
		{"no host, with slashes", "whois:///1.1.1.1", read(t, "iana.txt"), "ok", read(t, "apnic.txt"), 2},
		{"ARIN", "whois://whois.iana.org/1.1.1.1", read(t, "arin.txt"), "ok", read(t, "apnic.txt"), 1},
		{"registrar", "whois://whois.iana.org/1.1.1.1", read(t, "verisign.txt"), "ok", read(t, "verisign.txt"), 0},
		{"rwhois", "whois://whois.iana.org/1.1.1.1", "ReferralServer: rwhois://rwhois.example:4321\n", "ok", "ReferralServer: rwhois://rwhois.example:4321\n", 0},
		{"other scheme", "whois://whois.iana.org/1.1.1.1", "refer: http://whois.apnic.net/\n", "ok", "refer: http://whois.apnic.net/\n", 0},
		{"invalid server", "whois://whois.iana.org/1.1.1.1", "refer: a b/c?d\x1b[2J\n", "ok", "refer: a b/c?d\x1b[2J\n", 0},
		{"path", "whois://whois.iana.org/1.1.1.1", "refer: whois.apnic.net/quit\n", "ok", "refer: whois.apnic.net/quit\n", 0},
		{"user", "whois://whois.iana.org/1.1.1.1", "refer: a@whois.apnic.net\n", "ok", "refer: a@whois.apnic.net\n", 0},
		{"empty", "whois://whois.iana.org/1.1.1.1", "refer:\nReferralServer:\n", "ok", "refer:\nReferralServer:\n", 0},
		{"itself", "whois://whois.iana.org/1.1.1.1", "refer: whois.iana.org\n", "loop", "", 0},
		{"private address", "whois://whois.iana.org/1.1.1.1", "refer: 10.0.0.1\n", "policy-address", "", 0},
		{"this machine", "whois://whois.iana.org/1.1.1.1", "refer: localhost\n", "policy-address", "", 0},
		{"private name", "whois://whois.iana.org/1.1.1.1", "refer: intern.example\n", "policy-address", "", 0},
		{"metadata service", "whois://whois.iana.org/1.1.1.1", "refer: 169.254.169.254\n", "policy-address", "", 0},
		{"port of another service", "whois://whois.iana.org/1.1.1.1", "refer: whois.apnic.net:25\n", "policy-port", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				a, b := n.Serve("198.41.0.4:43", answer(test.first)), n.Serve("203.119.0.1:43", answer(read(t, "apnic.txt")))
				c := schemetest.NewClient(t, whois.Schemes(), func(o *fetch.Options) {
					o.Dial = n.Dial
					o.Resolver = hosts{"whois.iana.org": "198.41.0.4", "whois.apnic.net": "203.119.0.1", "intern.example": "10.1.2.3"}
				})
				r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, test.url))
				r.Check(t, test.fault, test.body, time.Minute)
				if r.Err == nil && len(r.Response.Chain) != test.chain {
					t.Errorf("chain %v", r.Response.Chain)
				}
				for _, d := range n.Dialed() {
					if !strings.HasPrefix(d.To.String(), "198.41.0.4:43") && d.To.String() != "203.119.0.1:43" {
						t.Errorf("dialled %v", d)
					}
				}
				c.Close()
				a.Close()
				b.Close()
			})
		})
	}
}

// TestUnfollowed checks that a Client that follows no redirects gets the first
// referral of a URL without a host, and connects to no server.
func TestUnfollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.NewNetwork(t)
		c := schemetest.NewClient(t, whois.Schemes(), func(o *fetch.Options) { o.Dial = n.Dial })
		defer c.Close()
		req := schemetest.NewRequest(t, "whois:example.org")
		req.NoFollow = true
		r := schemetest.Exchange(t.Context(), c, req)
		r.Check(t, "ok", "refer: whois.iana.org\n", time.Minute)
		if got := r.Response.Location.String(); got != "whois://whois.iana.org/example.org" || len(n.Dialed()) > 0 {
			t.Errorf("location %s, connections %v", got, n.Dialed())
		}
	})
}

// TestReplies checks how replies of unusual servers are reported.
func TestReplies(t *testing.T) {
	send := faultnet.Send
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"record", faultnet.Script{send("domain: x\r\n\xe9\x1b\r\n")}, "ok", "domain: x\r\n\xe9\x1b\r\n"},
		{"no line end", faultnet.Script{send("domain: x")}, "ok", "domain: x"},
		{"empty", faultnet.Script{}, "ok", ""},
		{"in parts", faultnet.Script{faultnet.SendSlow("domain: x\r\nrefer", 3, time.Second)}, "ok", "domain: x\r\nrefer"},
		{"Verisign, missing", faultnet.Script{send("No match for \"X.COM\".\r\n>>> Last update\r\n")}, "not-found", ""},
		{"RIPE, missing", faultnet.Script{send("% This is the RIPE Database\n\n%ERROR:101: no entries found\n%\n")}, "not-found", ""},
		{"PIR, missing", faultnet.Script{send("\r\n\r\nDomain not found.\r\n")}, "not-found", ""},
		{"terms that quote the message", faultnet.Script{send("domain: x\r\nNot found: nothing\r\n")}, "ok", "domain: x\r\nNot found: nothing\r\n"},
		{"reset in the text", faultnet.Script{send("dom"), faultnet.Reset()}, "truncated", ""},
		{"reset before the text", faultnet.Script{faultnet.Reset()}, "connect", ""},
		{"silent", faultnet.Script{faultnet.Stall()}, "timeout", ""},
		{"silent in the text", faultnet.Script{send("dom"), faultnet.Stall()}, "timeout", ""},
		{"endless", faultnet.Script{faultnet.SendBytes(1 << 40)}, "too-large", "*"},
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if len(test.script) == 0 || test.script[0].String() != "refuse" {
				test.script = append(faultnet.Script{faultnet.Expect("^x\r\n$")}, test.script...)
			}
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: whois.Schemes(), Address: "192.0.2.1:43", URL: "whois://192.0.2.1/x", Script: test.script, MaxBody: 1 << 20,
			})
			if test.body == "*" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

// TestPlan checks the request line of each form of URL.
func TestPlan(t *testing.T) {
	schemetest.Plans(t, whois.Schemes()[0], map[string]string{
		"whois://h/example.org":          "send example.org",
		"whois://h/-T%20dn%20example.de": "send -T dn example.de",
		"whois://h/=example.com":         "send =example.com",
		"whois://h/192.0.2.0/24":         "send 192.0.2.0/24",
		"whois:example.org":              "redirect whois://whois.iana.org/example.org",
		"whois:///example.org":           "redirect whois://whois.iana.org/example.org",
		"whois://h":                      "need-query: whois server requires a query, such as whois://HOST/example.org",
		"whois://h/":                     "need-query: whois server requires a query, such as whois://HOST/example.org",
		"whois://h/a?b":                  `invalid-uri: whois URL must not have a query: write "?" as %3F`,
		"whois://a@h/b":                  "invalid-uri: whois URL must not have a user",
		"whois://h/a%0D%0Ab":             "invalid-uri: control character in the query",
		"whois://h/a%00":                 "invalid-uri: control character in the query",
		"whois:a%0ab":                    "invalid-uri: control character in the query",
	})
}

// TestQuery checks the URLs of searches.
func TestQuery(t *testing.T) {
	for words, want := range map[string]string{"example.org": "whois://h/example.org", "-T dn a?b": "whois://h/-T%20dn%20a%3Fb", "": "need-query", "a\nb": "invalid-uri"} {
		u, err := whois.Schemes()[0].Search(schemetest.NewRequest(t, "whois://h/x").URL, fetch.Search{Words: words})
		got := u.String()
		if err != nil {
			got = fetch.FaultOf(err).String()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", words, got, want)
		}
	}
}

func TestNames(t *testing.T) { schemetest.Names(t, whois.Schemes(), "whois://h.example/x") }

func TestSuite(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("remarks: a long record\r\n", 5000)
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:43", faultnet.Script{faultnet.Lines(
		faultnet.On("^x$", 0, faultnet.Send(text), faultnet.Fin()),
		faultnet.On("^none$", 0, faultnet.Send("No entries found.\r\n"), faultnet.Fin()),
	)})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: whois.Schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "whois://192.0.2.1/x", Body: []byte(text), Missing: "whois://192.0.2.1/none",
		Rejected: []string{"whois://192.0.2.1/a%0ab", "whois://192.0.2.1:25/a", "whois://192.0.2.1:6379/a", "whois://a@192.0.2.1/a", "whois://192.0.2.1/"},
		NoRanges: true,
	})
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: whois.Schemes, URLs: []string{"whois://192.0.2.1/x"}, Body: "domain: x",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:43", faultnet.Script{faultnet.Expect("^x\r\n"), faultnet.Send("domain: x")}).Close
		},
	}.Run(t)
}

// FuzzPlan checks that no URL adds a line to the request.
func FuzzPlan(f *testing.F) {
	schemetest.FuzzPlan(f, whois.Schemes()[0], "//h/x", "x", "//h/a%0d%0ab", "//h/%", "///a%20b", "//u@h/")
}
