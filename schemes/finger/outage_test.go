package finger_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/finger"
)

// TestDeadNetworks tests outages in each phase of a query.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "finger", Schemes: finger.Schemes, URL: "finger://192.0.2.1/ada", Body: "no plan",
		Phases: [][]string{{"text"}}, OpenEnd: true,
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:79", faultnet.Script{faultnet.Expect("^ada\r\n"), faultnet.Send("no plan")}).Close
		},
	})
}
