package whoispp_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/whoispp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Parts of answers in the form of RFC 1835.
const (
	greeting = "% 220-This is services.example running Bunyip-Whois++: DIGGER 1.0.5\r\n% 220 Ready to go!\r\n"
	accepted = "% 200 Command okay\r\n"
	record   = "# FULL USER BUNYIP.COM PD45\r\n NAME: Peter Deutsch\r\n EMAIL: peterd@bunyip.example\r\n# END\r\n"
	handles  = "# HANDLE USER BUNYIP.COM PD45\r\n# HANDLE USER BUNYIP.COM a/b\r\n# END\r\n"
	referral = "# SERVER-TO-ASK\r\n SERVER-HANDLE: SUNETSE01\r\n HOST-NAME: sunic.sunet.example\r\n HOST-PORT: 7070\r\n PROTOCOL: whois++\r\n# END\r\n"
	complete = "% 226 Transaction complete\r\n% 203 Bye, bye\r\n"
)

func answer(text string) faultnet.Script {
	return faultnet.Script{faultnet.Send(greeting), faultnet.Expect("^name=peter\r\n$"), faultnet.Send(accepted + text)}
}

// TestReplies checks how replies are reported.
func TestReplies(t *testing.T) {
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"record", answer(record + complete), "ok", record},
		{"message in the records", answer(record + "% 111 Constraint not supported\r\n" + record + complete), "ok", record + record},
		{"no records", answer(complete), "not-found", ""},
		{"no confirmation", answer(record), "truncated", ""},
		{"long answer without a confirmation", answer(strings.Repeat(record, 1000)), "truncated", "*"},
		{"syntax error", answer("% 500 Syntax error\x1b[2J\r\n"), "server-perm", ""},
		{"authentication", answer("% 430 Authentication needed\r\n"), "auth", ""},
		{"busy", faultnet.Script{faultnet.Send("% 403 Information unavailable\r\n")}, "server-temp", ""},
		{"other server", faultnet.Script{faultnet.Send("220 smtp\r\n"), faultnet.Stall()}, "protocol", ""},
		{"silent", faultnet.Script{faultnet.Stall()}, "timeout", ""},
		{"closed at once", faultnet.Script{}, "connect", ""},
		{"reset", append(answer(record), faultnet.Reset()), "truncated", ""},
		{"endless greeting", faultnet.Script{faultnet.Send(strings.Repeat("% 220-hello\r\n", 100_000))}, "protocol", ""},
		{"endless line", append(answer(""), faultnet.SendSlow(strings.Repeat("x", 100_000), 10_000, 0)), "protocol", ""},
		{"endless records", append(answer(""), faultnet.Send(strings.Repeat(record, 50_000))), "too-large", "*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: whoispp.Schemes(), Address: "192.0.2.1:63", URL: "whois++://192.0.2.1/name=peter", Script: test.script, MaxBody: 1 << 20,
			})
			if test.body == "*" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

// TestListing lists handles and referrals.
func TestListing(t *testing.T) {
	n := faultnet.NewNetwork(t)
	hostile := func(host, port string) string {
		return "# SERVER-TO-ASK\r\n SERVER-HANDLE: x\x1b\r\n HOST-NAME: " + host + "\r\n HOST-PORT: " + port + "\r\n# END\r\n"
	}
	n.Serve("192.0.2.1:63", answer(handles+record+referral+hostile("h/quit", "63")+hostile("u@h", "63")+hostile("h", "0")+hostile("h", "99999")+hostile("0x7f.1", "63")+complete))
	c := schemetest.NewClient(t, whoispp.Schemes(), func(o *fetch.Options) { o.Dial = n.Dial })
	resp, err := c.Get(t.Context(), "whois++://192.0.2.1/name=peter")
	got := schemetest.Describe(resp, err, "whois++://192.0.2.1")
	invalid := `info "x\\x1b" type="server-to-ask"`
	want := strings.Join([]string{
		`document "PD45" /handle=PD45 text/plain server="BUNYIP.COM" template="USER" type="handle"`,
		`document "a/b" /handle=a%2Fb text/plain server="BUNYIP.COM" template="USER" type="handle"`,
		`document "PD45" /handle=PD45 text/plain server="BUNYIP.COM" template="USER" type="full"`,
		`unknown "SUNETSE01" whois++://sunic.sunet.example:7070/name=peter type="server-to-ask"`,
		invalid, invalid, invalid, invalid, invalid}, "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestPlan checks the query of each form of URL.
func TestPlan(t *testing.T) {
	schemetest.Plans(t, whoispp.Schemes()[0], map[string]string{
		"whois++://h/name=peter;template=user":    "send name=peter;template=user",
		"whois++://h/name=peter%20d:max=5":        "send name=peter d:max=5",
		"whois++://h/":                            "need-query: Whois++ server requires a query, such as whois++://HOST/name=ada",
		"whois++://h/a?b":                         `invalid-uri: whois++ URL must not have a query: write "?" as %3F`,
		"whois++://u@h/a":                         "invalid-uri: whois++ URL must be whois++://HOST/QUERY",
		"whois++:a":                               "invalid-uri: whois++ URL must be whois++://HOST/QUERY",
		"whois++://h/a%0d%0ab":                    "invalid-uri: control character in the query",
		"whois++://h/" + strings.Repeat("x", 600): "invalid-uri: query is longer than 500 bytes",
	})
}

func TestNames(t *testing.T) { schemetest.Names(t, whoispp.Schemes(), "whois++://h.example/x") }

func TestSuite(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(record, 1000)
	n := faultnet.NewNetwork(t)
	n.Serve("192.0.2.1:63", faultnet.Script{faultnet.Send(greeting), faultnet.Lines(
		faultnet.On("^name=peter$", 0, faultnet.Send(accepted+text+complete), faultnet.Fin()),
		faultnet.On("^name=none$", 0, faultnet.Send(accepted+complete), faultnet.Fin()),
		faultnet.On("^template=user$", 0, faultnet.Send(accepted+handles+complete), faultnet.Fin()),
	)})
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: whoispp.Schemes, Options: fetch.Options{Dial: n.Dial},
		Document: "whois++://192.0.2.1/name=peter", Body: []byte(text), Missing: "whois++://192.0.2.1/name=none",
		Menu: "whois++://192.0.2.1/template=user", Names: []string{"PD45"},
		Rejected: []string{"whois++://192.0.2.1/a%0ab", "whois++://192.0.2.1:25/a", "whois++://192.0.2.1:6379/a", "whois++:///a", "whois++://192.0.2.1/"},
		NoRanges: true,
	})
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: whoispp.Schemes, URLs: []string{"whois++://192.0.2.1/name=peter"}, Body: record,
		Serve: func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:63", answer(record+complete)).Close },
	}.Run(t)
}

// FuzzPlan checks that no URL adds a line to the request.
func FuzzPlan(f *testing.F) {
	schemetest.FuzzPlan(f, whoispp.Schemes()[0], "//h/a", "//h/a%0d%0ab", "//h/%", "//h/a%20b")
}

// FuzzMenu checks the URLs of records and referrals.
func FuzzMenu(f *testing.F) {
	for _, text := range []string{handles, record, referral, "# FULL a b c\n#\n# END", "# SERVER-TO-ASK\n HOST-NAME: h/\n"} {
		f.Add(text)
	}
	base, err := fetch.ParseURL("whois++://h/a%20b")
	if err != nil {
		f.Fatal(err)
	}
	s := whoispp.Schemes()[0]
	f.Fuzz(func(t *testing.T, text string) {
		for e, err := range s.Menu(base, "", strings.NewReader(text)) {
			if err != nil {
				if fetch.FaultOf(err) == fetch.Internal {
					t.Errorf("got %v", err)
				}
				return
			}
			if strings.ContainsAny(e.Name, "\x1b\r\n") || !e.URL.IsZero() && e.URL.Scheme() != "whois++" {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}
