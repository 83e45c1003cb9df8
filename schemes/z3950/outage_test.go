package z3950_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in each phase of a retrieval.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "z39.50", Schemes: schemes, URL: one, Body: "text\n",
		Phases: [][]string{{"Init", "Search", "Present"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:210", answers(found(1), records(sutrs("text\n")))).Close
		},
	})
}
