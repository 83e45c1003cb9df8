package ldap_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in each phase of a search.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "ldap", Schemes: schemes, URL: host + "dc=x", Body: "version: 1\n\ndn: dc=x\na: b\n",
		Phases: [][]string{{"entries"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:389", answers(entry(1, "dc=x", "a", "b")+done(1, 5, 0, ""))).Close
		},
	})
}
