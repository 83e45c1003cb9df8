package ipfs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// TestSlowPath checks that a gateway cannot hold a request open with a slow
// response for each directory of a path.
func TestSlowPath(t *testing.T) {
	const depth = 100
	synctest.Test(t, func(t *testing.T) {
		b := &blocks{}
		root := b.raw("hello")
		for range depth {
			root = b.dir("a", root)
		}
		get := faultnet.Expect(`^GET (?s:.*?)\r\n\r\n`)
		script := faultnet.Script{get, faultnet.Send("HTTP/1.1 406 Not Acceptable\r\nContent-Length: 0\r\n\r\n")}
		for _, c := range slices.Backward(b.order) {
			script = append(script, get, faultnet.Delay(25*time.Second),
				faultnet.Send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", rawMedia, len(b.all[c]), b.all[c])))
		}
		n := faultnet.NewNetwork(t)
		s := n.Serve("192.0.2.1:80", script)
		client := schemetest.NewClient(t, Schemes(Options{Gateway: "http://192.0.2.1"}), func(o *fetch.Options) { o.Dial = n.Dial })
		start := time.Now()
		_, _, err := schemetest.Read(t, client, url(root, strings.Repeat("/a", depth)))
		if took := time.Since(start); fetch.FaultOf(err) != fetch.Timeout || took > 10*time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
		client.Close()
		synctest.Wait()
		s.Close()
	})
}
