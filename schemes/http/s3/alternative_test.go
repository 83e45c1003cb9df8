package s3

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	web "github.com/anyurl/fetch/schemes/http"
)

// An elsewhere is HTTP/3 with the address of the server and alternative services.
type elsewhere struct {
	web.HTTP3
	alternatives []string
}

func (e elsewhere) Addresses(_ context.Context, _ string, _ uint16, own string) []string {
	return append(slices.Clone(e.alternatives), own)
}
func (elsewhere) Only() bool               { return true }
func (elsewhere) HeadStart() time.Duration { return time.Minute }

// names resolves names to addresses.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a, err := netip.ParseAddr(n[strings.TrimSuffix(host, ".")])
	return []netip.Addr{a}, err
}

// TestAlternatives checks that an alternative service does not replace the server
// of the configuration. The name of a bucket is no host, so that it gives no
// permission for a private address.
func TestAlternatives(t *testing.T) {
	const server, own = "s3.test", "udp 10.0.0.1:443"
	hosts := names{server: "10.0.0.1", "bucket": "10.0.0.9", "staging.test": "10.0.0.2", "other.test": "8.8.8.8"}
	route := func(to fetch.Target) fetch.Target {
		if to.Host == server {
			to.Host = "staging.test"
		}
		return to
	}
	for _, c := range []struct {
		name, bucket, alternative string
		route                     func(fetch.Target) fetch.Target
		want                      string
	}{
		{"none", "bucket", server + ":443", nil, own},
		{"the name of the bucket", "bucket", "bucket:8443", nil, own},
		{"the name of the bucket, standard port", "bucket", "bucket:443", nil, own},
		{"another port of the server", "bucket", server + ":8443", nil, own},
		{"another host", "bucket", "other.test:443", nil, own},
		{"another host, with a route for the server", "bucket", "other.test:443", route, "udp 10.0.0.2:443"},
		{"a bucket with the name of the server, another port", server, server + ":8443", nil, own},
		{"a bucket with the name of the server, another host", server, "other.test:443", nil, own},
	} {
		var mu sync.Mutex
		var dialed []string
		o := Options{Endpoint: "https://" + server, HTTP: web.Options{HTTP3: elsewhere{alternatives: []string{c.alternative}}}}
		client := schemetest.NewClient(t, Schemes(o), func(o *fetch.Options) {
			o.Resolver, o.Route = hosts, c.route
			o.Dial = func(_ context.Context, network string, to netip.AddrPort) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				dialed = append(dialed, network+" "+to.String())
				return nil, fetch.Connect
			}
		})
		_, err := client.Get(t.Context(), "s3://"+c.bucket+"/key")
		if got := slices.Compact(dialed); fetch.FaultOf(err) != fetch.Connect || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: connections to %q, %v, want %s", c.name, got, err, c.want)
		}
	}
}
