package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// fixedNames is a Resolver with fixed addresses.
type fixedNames map[string]string

func (n fixedNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestLiveProxy shows a page through a proxy. The links of the page must not
// reach private names, which the proxy would resolve.
func TestLiveProxy(t *testing.T) {
	var asked journal
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.RequestURI)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<img src="http://private.example/"><img src="http://intranet/"><img src="http://unknown.example/"><img src="http://public.example/">`)
	}))
	defer proxy.Close()
	via := fetch.Proxy{URL: uri.MustParse(proxy.URL)}
	h := newLive(t, func(o *Options) {
		o.Live.AllowHosts = nil
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			return fetch.New(fetch.Options{
				Policy: p, Wrap: wrap.Standard(wrap.Options{}), Proxy: func(fetch.Target) (fetch.Proxy, error) { return via, nil },
				Resolver: fixedNames{"page.example": hostileHost, "private.example": "10.0.0.1", "intranet": "192.168.0.1", "public.example": otherHost,
					"a.root-servers.net": "198.41.0.4"},
			}, o.Schemes...), nil
		}
	})
	page := get(h, "GET", "/live/http://page.example/", navigation...)
	if got := strings.Join(asked.all(), " "); page.Code != 200 || !strings.HasPrefix(got, "http://") {
		t.Fatalf("%d, the proxy got %q: %s", page.Code, got, page.Body)
	}
	asked.clear()
	images := regexp.MustCompile(`<img src="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	for i, want := range []int{403, 403, 502, 200} {
		if w := get(h, "GET", images[i][1]); w.Code != want {
			t.Errorf("%s: %d, want %d", images[i][1], w.Code, want)
		}
	}
	if got := strings.Join(asked.all(), " "); got != "http://"+otherHost+"/" {
		t.Errorf("the proxy got %q", got)
	}
}
