package smb

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in each phase of a session.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name:    "smb",
		Schemes: Schemes,
		URL:     "smb://192.0.2.1/share/f", Body: "0123456789",
		Phases: [][]string{{"NEGOTIATE", "SESSION_SETUP", "SESSION_SETUP with a digest", "TREE_CONNECT", "CREATE", "QUERY_INFO", "READ", "CLOSE"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:445", faultnet.Script{faultnet.Do("serve", func(c *faultnet.Conn) error {
				newFake(nil).serve(c)
				return nil
			})}).Close
		},
	})
}
