package whois_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/whois"
)

// TestDeadNetworks tests outages in each phase of a query.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "whois", Schemes: whois.Schemes, URL: "whois://192.0.2.1/x", Body: "domain: x",
		Phases: [][]string{{"text"}}, OpenEnd: true,
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:43", faultnet.Script{faultnet.Expect("^x\r\n"), faultnet.Send("domain: x")}).Close
		},
	})
}
