package mirror_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
)

// TestBrowserRebinding crawls a page with a browser. After the page was retrieved,
// its name has a private address. The requests of the page do not reach it.
func TestBrowserRebinding(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the pauses of a host")
	}
	var private, reached atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request resolves the name again
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "page")
		private.Store(r.URL.Path == "/")
	}))
	defer server.Close()
	resolver := resolverFunc(func() string {
		if private.Load() {
			return "10.0.0.1"
		}
		return "8.8.8.8"
	})
	o := options(t, "http://rebind.example/")
	o.Client = fetch.New(fetch.Options{Policy: fetch.Typed(), Resolver: resolver, Dial: func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		if to.Addr().IsPrivate() {
			reached.Store(true)
		}
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}, schemes.All(schemes.Options{})...)
	defer o.Client.Close()
	o.Browser = &fakeBrowser{requests: map[string][]string{
		"/": {"GET http://rebind.example/secret", "POST http://rebind.example/admin a=1", "GET http://other.example/secret"},
	}}
	o.Scope.Depth, o.WARC = -1, &mirror.WARC{}
	sum := run(t, o)
	if reached.Load() || !private.Load() || sum.New != 1 {
		t.Errorf("a private address was reached: %t, summary %+v", reached.Load(), sum)
	}
	for _, line := range recordLines(t, o.Dir) {
		if strings.Contains(line, "/secret") || strings.Contains(line, "/admin") {
			t.Errorf("record %s", line)
		}
	}
}

// TestBrowserFrames crawls a page of a private network, whose parts include pages
// and redirects of a public server. They reach no private addresses.
func TestBrowserFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("intra.example", webSite{"/": "page"}, "10.0.0.5")
		w.web("10.0.0.6", webSite{"/part": "part"}, "10.0.0.6")
		w.web("10.0.0.7", webSite{"/secret": "secret"}, "10.0.0.7")
		w.web("evil.example", http.RedirectHandler("http://10.0.0.7/secret", http.StatusFound))
		o := w.options("http://intra.example/")
		o.Scope.Depth = -1
		o.Browser = &fakeBrowser{requests: map[string][]string{"/": {
			"GET http://10.0.0.6/part", "GET http://10.0.0.7/secret  http://evil.example/", "GET http://evil.example/to", "GET http://10.0.0.7/secret",
		}}}
		run(t, o)
		all := w.requests()
		if strings.Contains(all, "secret") || !strings.Contains(all, "http://10.0.0.6/part") || !strings.Contains(all, "http://evil.example/to") {
			t.Errorf("requests %s", all)
		}
	})
}

// A resolverFunc is a Resolver that returns one address for each name.
type resolverFunc func() string

func (f resolverFunc) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(f())}, nil
}
