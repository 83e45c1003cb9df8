package ipfs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestDeadNetworks tests outages in the response of the gateway.
func TestDeadNetworks(t *testing.T) {
	b := &blocks{}
	text := strings.Repeat("hello ", 100)
	leaf := b.raw(text)
	root := b.file(leaf)
	file := b.car(root, leaf)
	var script faultnet.Script
	for range 3 {
		script = append(script, faultnet.Expect(`^GET /ipfs/bafy[a-z0-9]*\?format=car&dag-scope=entity HTTP/1.1\r\n(?s:.*?)\r\n\r\n`),
			faultnet.Send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", carMedia, len(file), file)))
	}
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "ipfs", Schemes: func() []fetch.Scheme { return Schemes(Options{Gateway: "http://192.0.2.1"}) }, URL: url(root, ""), Body: text,
		Phases: [][]string{{"CAR file"}},
		Serve: func(n *faultnet.Network) func() {
			return n.Serve("192.0.2.1:80", append(script, faultnet.Stall())).Close
		},
	})
}
