package pop_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/pop"
)

// TestFallback checks that the client tries other mechanisms after a rejection,
// but does not send the password in plaintext. The error names the mechanism
// that was not tried.
func TestFallback(t *testing.T) {
	start := faultnet.Script{faultnet.Send("+OK <7@h>\r\n"), faultnet.Expect("CAPA\r\n$")}
	no := faultnet.Send("-ERR [AUTH] bad login\r\n")
	apop := faultnet.Expect("^APOP bob [0-9a-f]{32}\r\n$")
	cram := faultnet.Script{faultnet.Expect("^AUTH CRAM-MD5\r\n$"), faultnet.Send("+ PDc+\r\n"), faultnet.Expect("\r\n$"), no}
	offers := func(caps string, steps ...faultnet.Step) faultnet.Script {
		return append(append(start[:2:2], faultnet.Send("+OK\r\n"+caps+".\r\n")), steps...)
	}
	for _, test := range []struct {
		name, option string
		script       faultnet.Script
	}{
		{"APOP rejected", "pop.Options.Mechanism +LOGIN", offers("USER\r\n", apop, no, faultnet.Expect("QUIT\r\n$"))},
		{"CRAM-MD5 and APOP rejected", "pop.Options.Mechanism +LOGIN", offers("SASL CRAM-MD5\r\n", append(cram, apop, no, faultnet.Expect("QUIT\r\n$"))...)},
		{"CRAM-MD5 rejected and PLAIN offered", "pop.Options.Mechanism PLAIN", offers("SASL PLAIN CRAM-MD5\r\n", append(cram, faultnet.Expect("QUIT\r\n$"))...)},
		{"connection closed after the rejection", "", offers("SASL CRAM-MD5\r\n", append(cram, apop, faultnet.Fin())...)},
		{"mailbox in use", "", offers("", apop, faultnet.Send("-ERR [IN-USE] bad login time\r\n"), faultnet.Expect("QUIT\r\n$"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := faultnet.NewNetwork(t)
			s := n.Serve("192.0.2.1:110", test.script)
			c := schemetest.NewClient(t, pop.Schemes(pop.Options{}), func(o *fetch.Options) { o.Dial = n.Dial })
			_, _, err := schemetest.Read(t, c, "pop://bob:s3cret@192.0.2.1/1")
			if err == nil || !strings.Contains(err.Error(), "bad login") || override.Of(err).String() != test.option {
				t.Errorf("got %v (%v), want %s", err, override.Of(err), test.option)
			}
			c.Close()
			s.Close()
			for _, conn := range s.Conns() {
				if strings.Contains(string(conn.All()), "s3cret") {
					t.Errorf("sent %q", conn.All())
				}
			}
		})
	}
}
