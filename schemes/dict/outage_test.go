package dict_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/dict"
)

// TestDeadNetworks tests outages in each phase of a definition.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "dict", Schemes: dict.Schemes, URL: "dict://192.0.2.1/d:ox", Body: "From Farm words [farm]:\r\n\r\nAn ox.\r\n",
		Phases: [][]string{{"greeting", "definition"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:2628", faultnet.Script{faultnet.Send(greeting), faultnet.Expect("QUIT\r\n"),
				faultnet.Send("250 ok\r\n" + found + "An ox.\r\n.\r\n250 ok\r\n221 bye\r\n")}).Close
		},
	})
}
