package clientflags

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestFinalDot checks that --resolve and --connect-to apply to a host with a final
// dot too.
func TestFinalDot(t *testing.T) {
	for _, c := range []struct {
		name, host, want string
		flags            routeFlags
	}{
		{"--resolve", "a.test.", "192.0.2.1:443", routeFlags{resolve: []string{"a.test:443:192.0.2.1"}}},
		{"--connect-to", "a.test.", "b.test:443", routeFlags{connectTo: []string{"a.test:443:b.test:"}}},
		{"dot in the flag", "a.test", "b.test:443", routeFlags{connectTo: []string{"a.test.:443:b.test:"}}},
		{"other host", "aa.test.", "aa.test.:443", routeFlags{connectTo: []string{"a.test:443:b.test:"}}},
	} {
		route, err := c.flags.route()
		if err != nil {
			t.Fatal(err)
		}
		if got := route(fetch.Target{Scheme: "https", Host: c.host, Port: 443}).Address(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
