package pop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/pop"
)

// TestFaults checks how replies of unusual and hostile servers are reported.
// Time is fake.
func TestFaults(t *testing.T) {
	in := []faultnet.Step{
		faultnet.Send("+OK\r\n"), faultnet.Expect("CAPA\r\n$"), faultnet.Send("-ERR\r\n"),
		faultnet.Expect("USER bob\r\n$"), faultnet.Send("+OK\r\n"), faultnet.Expect("PASS s3cret\r\n$"), faultnet.Send("+OK\r\n"),
		faultnet.Expect("RETR 1\r\n$"),
	}
	after := func(n int, steps ...faultnet.Step) faultnet.Script { return append(in[:n:n], steps...) }
	capa := func(text string, steps ...faultnet.Step) faultnet.Script {
		return append(append(in[:2:2], faultnet.Send("+OK\r\n"+text+".\r\n")), steps...)
	}
	challenge := faultnet.Send("+ \r\n")
	for _, test := range []struct {
		name        string
		script      faultnet.Script
		fault, body string
	}{
		{"message", after(8, faultnet.Send("+OK\r\nx\r\n.\r\n")), "ok", "x\r\n"},
		{"empty message", after(8, faultnet.Send("+OK\r\n.\r\n")), "ok", ""},
		{"lines that end in LF", after(8, faultnet.Send("+OK\nx\n.\n")), "ok", "x\n"},
		{"end in the message", after(8, faultnet.Send("+OK\r\nx\r\n")), "truncated", "x\r\n"},
		{"reset in the message", after(8, faultnet.Send("+OK\r\nx\r\n"), faultnet.Reset()), "truncated", "x\r\n"},
		{"silent in the message", after(8, faultnet.Send("+OK\r\nx\r\n"), faultnet.Stall()), "timeout", "x\r\n"},
		{"endless message", after(8, faultnet.Send("+OK\r\n"), faultnet.SendBytes(1<<40)), "too-large", ""},
		{"missing", after(8, faultnet.Send("-ERR no \x1b[2J\r\n")), "not-found", ""},
		{"temporary error", after(8, faultnet.Send("-ERR [SYS/TEMP] x\r\n")), "server-temp", ""},
		{"challenge in place of a reply", after(8, faultnet.Send("+ x\r\n")), "protocol", ""},
		{"not a reply", after(8, faultnet.Send("250 OK\r\n")), "protocol", ""},
		{"endless line", after(8, faultnet.Send("+OK "+strings.Repeat("x", 1<<20))), "protocol", ""},
		{"silent", after(8, faultnet.Stall()), "timeout", ""},
		{"closed", after(8), "connect", ""},
		{"greeting is an error", faultnet.Script{faultnet.Send("-ERR busy\r\n")}, "server-temp", ""},
		{"another service", faultnet.Script{faultnet.Send("220 smtp\r\n")}, "protocol", ""},
		{"silent at the start", faultnet.Script{faultnet.Stall()}, "timeout", ""},
		{"closed at the start", faultnet.Script{faultnet.Fin()}, "connect", ""},
		{"refused", faultnet.Script{faultnet.Refuse()}, "connect", ""},
		{"login rejected", after(6, faultnet.Send("-ERR no\r\n")), "auth", ""},
		{"user rejected", after(4, faultnet.Send("-ERR no\r\n")), "auth", ""},
		{"mailbox is locked", after(6, faultnet.Send("-ERR [IN-USE] locked\r\n")), "server-temp", ""},
		{"too many capabilities", append(in[:2:2], faultnet.Send("+OK\r\n"+strings.Repeat("X\r\n", 2000))), "protocol", ""},
		{"STLS rejected", capa("STLS\r\n", faultnet.Expect("STLS\r\n$"), faultnet.Send("-ERR\r\n")), "tls", ""},
		{"plaintext after STLS", capa("STLS\r\n", faultnet.Expect("STLS\r\n$"), faultnet.Send("+OK\r\n+OK\r\n"), faultnet.Stall()), "tls", ""},
		{"endless challenges", capa("SASL PLAIN\r\n", faultnet.Lines(faultnet.On("", 0, challenge))), "protocol", ""},
		{"challenge that is not base64", capa("SASL CRAM-MD5\r\n", faultnet.Expect("AUTH CRAM-MD5\r\n$"), faultnet.Send("+ !\r\n"),
			faultnet.Expect("\\*\r\n$"), faultnet.Send("-ERR\r\n")), "auth", ""},
		{"SCRAM without a signature", capa("SASL SCRAM-SHA-256\r\n", faultnet.Expect("AUTH SCRAM-SHA-256\r\n$"), faultnet.Send("+OK\r\n"), faultnet.Stall()), "auth", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := schemetest.ExchangeOnce(t, schemetest.Single{
				Schemes: pop.Schemes(pop.Options{}), Address: "192.0.2.1:110", URL: "pop://bob:s3cret@192.0.2.1/1", Script: test.script, MaxBody: 1 << 20,
			})
			if test.fault == "too-large" {
				test.body = r.Body
			}
			r.Check(t, test.fault, test.body, 2*time.Minute)
		})
	}
}

// TestUntyped checks that a link cannot make the client send a password in
// plaintext.
func TestUntyped(t *testing.T) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("198.41.0.4:110", faultnet.Script{faultnet.Send("+OK\r\n"), faultnet.Expect("CAPA\r\n$"), faultnet.Send("-ERR\r\n"), faultnet.Expect("QUIT\r\n$")})
	c := schemetest.NewClient(t, pop.Schemes(pop.Options{}), func(o *fetch.Options) { o.Dial = n.Dial })
	req := schemetest.NewRequest(t, "pop://198.41.0.4/1")
	req.From = &fetch.Source{URL: schemetest.NewRequest(t, "pop://198.41.0.4/").URL}
	req.Auth = &fetch.Credential{User: "bob", Password: "s3cret"}
	if _, _, err := schemetest.ReadRequest(t, c, req); fetch.FaultOf(err) != fetch.Auth {
		t.Errorf("got %v", err)
	}
	c.Close()
	s.Close()
	for _, conn := range s.Conns() {
		if strings.Contains(string(conn.Sent()), "s3cret") {
			t.Errorf("sent %q", conn.Sent())
		}
	}
}

// TestPlan checks the commands for each form of URL.
func TestPlan(t *testing.T) {
	for url, want := range map[string]string{
		"pop://h":               "CAPA; STLS; LIST",
		"pop://u@h/":            "CAPA; STLS; AUTH *** (else USER); LIST",
		"pop://u;AUTH=*:p@h/12": "CAPA; STLS; AUTH *** (else USER); RETR 12",
		"pop://h/a":             "invalid-uri: the path of a pop URL is the number of a message",
		"pop://h/0":             "invalid-uri: the path of a pop URL is the number of a message",
		"pop://h/1/2":           "invalid-uri: the path of a pop URL is the number of a message",
		"pop://h/12345678901":   "invalid-uri: the path of a pop URL is the number of a message",
		"pop://h/?a":            "invalid-uri: pop URL must not have a query",
		"pop:///1":              "invalid-uri: pop URL must have a host, such as pop://USER@HOST/",
	} {
		req := schemetest.NewRequest(t, url)
		if auth, err := pop.Schemes(pop.Options{})[0].User(req.URL); err == nil {
			req.Auth = auth
		}
		if got := schemetest.Plan(pop.Schemes(pop.Options{})[0], req); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	schemetest.Names(t, pop.Schemes(pop.Options{}), "pop://u:p@h.example/1")
}

// TestSweep injects a failure into each network operation.
func TestSweep(t *testing.T) {
	schemetest.Sweep{
		Schemes: func() []fetch.Scheme { return pop.Schemes(pop.Options{}) },
		URLs:    []string{"pop://bob:s3cret@192.0.2.1/1", "pop://bob:s3cret@192.0.2.1/1"}, Body: "x\r\n",
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:110", faultnet.Script{faultnet.Send("+OK\r\n"), faultnet.Lines(
				faultnet.On("^CAPA", 0, faultnet.Send("-ERR\r\n")), faultnet.On("^USER|^PASS", 0, faultnet.Send("+OK\r\n")),
				faultnet.On("^RETR", 0, faultnet.Send("+OK\r\nx\r\n.\r\n")), faultnet.On("^QUIT", 0, faultnet.Send("+OK\r\n"), faultnet.Fin()),
			)}).Close
		},
	}.Run(t)
}
