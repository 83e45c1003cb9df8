package telnet_test

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/telnet"
)

// TestDeadNetworks tests outages in each phase of a session and of a screen.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "telnet", URL: "telnet://192.0.2.1", Body: "name? hello", Input: "ada\n", Session: true,
		Schemes: func() []fetch.Scheme { return telnet.Schemes(telnet.Options{Idle: time.Minute}) },
		Phases:  [][]string{{"greeting", "output"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:23", faultnet.Script{faultnet.Send("\xff\xfd\x18name? "), faultnet.Expect("ada\n"), faultnet.Send("hello")}).Close
		},
	}, schemetest.Outage{
		Name: "tn3270", URL: "tn3270://192.0.2.1", Body: "Hi\n",
		Schemes: func() []fetch.Scheme { return telnet.Schemes(telnet.Options{}) },
		Phases:  [][]string{{"options", "screen"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:23", faultnet.Script{faultnet.Send(agree), faultnet.Expect("\x19"), faultnet.Send(screen), faultnet.Stall()}).Close
		},
	})
}
