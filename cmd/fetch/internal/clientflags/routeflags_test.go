package clientflags

import (
	"context"
	"net/netip"
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

// A recordedResolver returns one address for every name, and records the name.
type recordedResolver struct{ name string }

func (r *recordedResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.name = host
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// TestLocalName checks that the name of --interface is sent only to the DNS servers
// that other flags select, such as --doh-url.
func TestLocalName(t *testing.T) {
	for _, c := range []struct{ name, local, asked, want string }{
		{"host", "a.test", "a.test", "192.0.2.1"},
		{"prefix", "host!a", "a", "192.0.2.1"},
		{"address", "192.0.2.7", "", "192.0.2.7"},
		{"interface", "lo", "", "127.0.0.1"},
	} {
		r := new(recordedResolver)
		all, err := (&routeFlags{local: c.local}).localAddrs(t.Context(), r)
		if err != nil || len(all) == 0 || all[0].String() != c.want || r.name != c.asked {
			t.Errorf("%s: got %v, %v after a query for %q", c.name, all, err, r.name)
		}
	}
}
