package pop_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/pop"
)

// TestDeadNetworks tests outages in each phase of a session.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name:    "pop",
		Schemes: func() []fetch.Scheme { return pop.Schemes(pop.Options{}) },
		URL:     "pop://bob:s3cret@192.0.2.1/1", Body: "x\r\n",
		Phases: [][]string{{"greeting", "CAPA", "USER", "PASS", "RETR"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:110", faultnet.Script{faultnet.Send("+OK\r\n"), faultnet.Lines(
				faultnet.On("^CAPA", 0, faultnet.Send("-ERR\r\n")), faultnet.On("^USER|^PASS", 0, faultnet.Send("+OK\r\n")),
				faultnet.On("^RETR", 0, faultnet.Send("+OK\r\nx\r\n.\r\n")), faultnet.On("^QUIT", 0, faultnet.Send("+OK\r\n"), faultnet.Fin()),
			)}).Close
		},
	})
}
