package wais_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
)

// TestDeadNetworks tests outages in each phase of a retrieval.
func TestDeadNetworks(t *testing.T) {
	text := strings.Repeat("0123456789abcdef\n", 20000)
	server := &waistest.Server{Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{waistest.NewText("/a", "a", text)}}}}
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "wais", Schemes: schemes, URL: host + "db/TEXT/340000/3=0%200%20/a;", Body: text,
		Phases: [][]string{{"Init", "first part", "second part", "third part", "fourth part"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:210", faultnet.Script{server.Step()}).Close
		},
	})
}
