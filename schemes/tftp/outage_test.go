package tftp_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in each phase of a transfer.
func TestDeadNetworks(t *testing.T) {
	body := strings.Repeat("0123456789", 200)
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "tftp", Schemes: schemes, URL: "tftp://192.0.2.1/f", Body: body, Packets: true,
		Phases: [][]string{{"options", "block 1", "block 2"}},
		Serve: func(n *faultnet.Network) func() {
			return n.ServePackets("192.0.2.1:69", faultnet.Packets{Session: file(body, 1428, options("blksize", "1428", "tsize", "2000", "timeout", "2"))}).Close
		},
	})
}
