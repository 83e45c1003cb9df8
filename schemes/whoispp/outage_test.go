package whoispp_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/whoispp"
)

// TestDeadNetworks tests outages in each phase of a query.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "whois++", Schemes: whoispp.Schemes, URL: "whois++://192.0.2.1/name=peter", Body: record,
		Phases: [][]string{{"greeting", "records"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:63", answer(record+complete)).Close
		},
	})
}
