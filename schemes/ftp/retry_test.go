package ftp_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/wrap"
)

// TestAgain: what passes is tried again by a new login, and what broke off
// goes on where it did, if it is still the same file.
func TestAgain(t *testing.T) {
	hello, hel, rest := faultnet.Script{faultnet.Send("hello\r\n")}, faultnet.Send("hel"), faultnet.Script{faultnet.Send("lo\r\n")}
	greet := faultnet.Send("220 hello\r\n")
	retr := func(steps ...faultnet.Step) *faultnet.Hook { return faultnet.On("^RETR", 1, steps...) }
	logs := func(hooks ...*faultnet.Hook) []faultnet.Script {
		return []faultnet.Script{{greet, obliging(hooks...)}}
	}
	for _, test := range []struct {
		name    string
		control []faultnet.Script
		data    []faultnet.Script
		said    string // of USER, REST and RETR alone
		body    string
		want    fetch.Fault
	}{
		{"reset before the greeting", []faultnet.Script{{faultnet.Reset()}, {greet, obliging()}}, []faultnet.Script{hello}, "USER RETR", "hello\r\n", 0},
		{"421 for a greeting", []faultnet.Script{{faultnet.Send("421 full\r\n"), faultnet.Fin()}, {greet, obliging()}}, []faultnet.Script{hello}, "USER RETR", "hello\r\n", 0},
		{"too many users", logs(faultnet.On("^PASS", 1, faultnet.Send("530 too many users\r\n"))), []faultnet.Script{hello}, "USER USER RETR", "hello\r\n", 0},
		{"450 for a RETR", logs(retr(faultnet.Send("450 busy\r\n"))), []faultnet.Script{hello}, "USER RETR RETR", "hello\r\n", 0},
		{"reset before the first byte", logs(), []faultnet.Script{{faultnet.Reset()}, hello}, "USER RETR USER RETR", "hello\r\n", 0},
		{"reset midway", logs(), []faultnet.Script{{hel, faultnet.Reset()}, rest}, "USER RETR USER REST 3 RETR", "hello\r\n", 0},
		{"426 midway", logs(retr(faultnet.Send("150 ok\r\n426 cut\r\n"))), []faultnet.Script{{hel}, rest}, "USER RETR REST 3 RETR", "hello\r\n", 0},
		{"421 midway", logs(retr(faultnet.Send("150 ok\r\n421 going down\r\n"), faultnet.Fin())), []faultnet.Script{{hel}, rest}, "USER RETR USER REST 3 RETR", "hello\r\n", 0},
		{"restarted midway", []faultnet.Script{{greet, obliging(retr(faultnet.Send("150 ok\r\n"), faultnet.Reset()))},
			{faultnet.Refuse()}, {greet, obliging()}}, []faultnet.Script{{hel, faultnet.Reset()}, rest}, "USER RETR USER REST 3 RETR", "hello\r\n", 0},
		{"silent midway", logs(retr(faultnet.Send("150 ok\r\n"), faultnet.Stall())), []faultnet.Script{{hel, faultnet.Stall()}, rest}, "USER RETR USER REST 3 RETR", "hello\r\n", 0},
		{"short of its SIZE", logs(), []faultnet.Script{{hel}, rest}, "USER RETR REST 3 RETR", "hello\r\n", 0},
		{"another MDTM after the cut", logs(faultnet.On("^MDTM", 2, faultnet.Send("213 20250101000000\r\n"))),
			[]faultnet.Script{{hel}, hello}, "USER RETR RETR", "hel", fetch.Truncated},
		{"another SIZE after the cut", logs(faultnet.On("^SIZE", 2, faultnet.Send("213 9\r\n"))),
			[]faultnet.Script{{hel}, {faultnet.Send("hello, w\r\n")}}, "USER RETR RETR", "hel", fetch.Truncated},
		{"longer than its SIZE", logs(), []faultnet.Script{{faultnet.Send("hello\r\nand more")}}, "USER RETR", "hello\r\n", fetch.Mismatch},
		{"not there", logs(retr(faultnet.Send("553 no\r\n"))), []faultnet.Script{hello}, "USER RETR", "", fetch.NotFound},
		{"no such user", logs(faultnet.On("^PASS", 0, faultnet.Send("530 no\r\n"))), nil, "USER", "", fetch.Auth},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				control := n.Serve("192.0.2.1:21", test.control...)
				n.Serve("192.0.2.1:40000", test.data...)
				w := &world{Network: n, control: control, client: fetch.New(fetch.Options{
					Policy: fetch.Typed(), Dial: n.Dial, Wrap: []fetch.Middleware{wrap.Retry(wrap.RetryOptions{})},
				}, ftp.Schemes(ftp.Options{})...)}
				body, _, err := w.get(t.Context(), "ftp://192.0.2.1/x")
				if body != test.body || test.want == 0 && err != nil || test.want != 0 && fetch.FaultOf(err) != test.want {
					t.Errorf("got %q, %v, want %q, %v", body, err, test.body, test.want)
				}
				w.client.Close()
				synctest.Wait()
				var said string
				for _, c := range control.Conns() {
					said += string(c.Sent())
				}
				if got := strings.Join(worth.FindAllString(said, -1), " "); got != test.said {
					t.Errorf("said %q, want %q", got, test.said)
				}
			})
		})
	}
}

var worth = regexp.MustCompile(`USER|REST \d+|RETR`)
