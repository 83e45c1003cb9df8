package telnet_test

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/telnet"
)

// TestSweep injects a failure into each network operation of a session and of a
// tn3270 request.
func TestSweep(t *testing.T) {
	for _, test := range []struct {
		url, want string
		script    faultnet.Script
	}{
		{"telnet://192.0.2.1", "name? hello", faultnet.Script{faultnet.Send("\xff\xfd\x18name? "), faultnet.Expect("ada\n"), faultnet.Send("hello")}},
		{"tn3270://192.0.2.1", "Hi\n", faultnet.Script{faultnet.Send(agree), faultnet.Expect("\x19"), faultnet.Send(screen), faultnet.Stall()}},
	} {
		schemetest.Sweep{
			Schemes: func() []fetch.Scheme { return telnet.Schemes(telnet.Options{Idle: time.Minute}) },
			URLs:    []string{test.url}, Body: test.want, Input: "ada\n",
			Serve: func(n *faultnet.Network) func() { return n.Serve("192.0.2.1:23", test.script).Close },
		}.Run(t)
	}
}
