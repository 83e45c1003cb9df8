package clientflags

import (
	"context"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestRouteHosts checks that --resolve and --connect-to apply to a host with a final
// dot, and to an international one.
func TestRouteHosts(t *testing.T) {
	for _, c := range []struct {
		name, host, want string
		flags            routeFlags
	}{
		{"--resolve", "a.test.", "192.0.2.1:443", routeFlags{resolve: []string{"a.test:443:192.0.2.1"}}},
		{"--connect-to", "a.test.", "b.test:443", routeFlags{connectTo: []string{"a.test:443:b.test:"}}},
		{"dot in the flag", "a.test", "b.test:443", routeFlags{connectTo: []string{"a.test.:443:b.test:"}}},
		{"international host, --resolve", "xn--bcher-kva.test", "192.0.2.1:443", routeFlags{resolve: []string{"Bücher.test:443:192.0.2.1"}}},
		{"international host, --connect-to", "xn--bcher-kva.test", "xn--bren-loa.test:443", routeFlags{connectTo: []string{"bücher.test::bären.test:"}}},
		{"host that is not IDNA", "a.test", "a.test:443", routeFlags{connectTo: []string{"ü..test::b.test:"}}},
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

// TestNoProxyHosts checks that --noproxy and no_proxy apply to international hosts.
func TestNoProxyHosts(t *testing.T) {
	for _, c := range []struct {
		name, list, host string
		direct           bool
	}{
		{"host", "a.test,bücher.test", "xn--bcher-kva.test", true},
		{"leading dot", ".BÜCHER.test", "www.xn--bcher-kva.test", true},
		{"port", "bücher.test:443", "xn--bcher-kva.test", true},
		{"other port", "bücher.test:80", "xn--bcher-kva.test", false},
		{"address beside it", "bücher.test ::1", "::1", true},
		{"other host", "bücher.test", "a.test", false},
	} {
		for _, f := range []proxyFlags{{url: "http://192.0.2.1:3128", noproxy: &c.list}, {url: "http://192.0.2.1:3128"}} {
			proxy, err := f.proxyFunc(func(name string) string { return map[string]string{"no_proxy": c.list}[name] })
			if err != nil {
				t.Fatal(err)
			}
			if p, err := proxy(fetch.Target{Scheme: "https", Host: c.host, Port: 443}); err != nil || p.URL.IsZero() != c.direct {
				t.Errorf("%s: proxy %s, %v", c.name, p.URL, err)
			}
		}
	}
}
