package nfs_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nfs"
)

// TestDeadNetworks tests outages in each phase of a retrieval.
func TestDeadNetworks(t *testing.T) {
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "nfs", Schemes: func() []fetch.Scheme { return nfs.Schemes(nfs.Options{}) }, URL: host + "pub/a%20b", Body: "hello, public file handle\n",
		Phases: [][]string{{"FSINFO", "public handle", "LOOKUP", "ACCESS", "READ", "second READ", "GETATTR"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:2049", faultnet.Script{publicServer().serve()}).Close
		},
	})
}
