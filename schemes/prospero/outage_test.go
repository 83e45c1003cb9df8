package prospero_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in each phase of a retrieval.
func TestDeadNetworks(t *testing.T) {
	text := strings.Repeat("it's 0123456789abcdef\n", 200)
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "prospero", Schemes: schemes, URL: host + "x", Body: text, Packets: true,
		Phases: [][]string{{"version"}, {"object"}, {"contents"}},
		Serve: func(n *faultnet.Network) func() {
			s := prospertest.NewServer("H")
			s.Add(prospertest.Object{Name: "x", Target: "FILE", Contents: []byte(text), Attributes: []string{"INTRINSIC ACCESS-METHOD SEQUENCE PROSPERO-CONTENTS"}})
			return n.ServePackets("192.0.2.1:1525", faultnet.Packets{Answer: s.Answer}).Close
		},
	})
}
