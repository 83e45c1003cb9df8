package gateway

import (
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
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

// newTunnel starts a proxy that answers the request in each tunnel with a page. It
// adds the targets of the tunnels to asked.
func newTunnel(t *testing.T, asked *journal, page string) *httptest.Server {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.RequestURI)
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
		if _, err := http.ReadRequest(buffered.Reader); err == nil {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n"+page)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy
}

// TestLiveProxy shows a page through a proxy. The links of the page must not
// reach private names, which the proxy would resolve.
func TestLiveProxy(t *testing.T) {
	var asked journal
	proxy := newTunnel(t, &asked, `<img src="http://private.example/"><img src="http://intranet/"><img src="http://unknown.example/"><img src="http://public.example/">`)
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
	if got := strings.Join(asked.all(), " "); page.Code != 200 || got != hostileHost+":80" {
		t.Fatalf("%d, the proxy got %q: %s", page.Code, got, page.Body)
	}
	asked.clear()
	images := regexp.MustCompile(`<img src="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
	for i, want := range []int{403, 403, 502, 200} {
		if w := get(h, "GET", images[i][1]); w.Code != want {
			t.Errorf("%s: %d, want %d", images[i][1], w.Code, want)
		}
	}
	if got := strings.Join(asked.all(), " "); got != otherHost+":80" {
		t.Errorf("the proxy got %q", got)
	}
}

// newProxied returns a Handler whose live pages are retrieved through the proxy via.
func newProxied(t *testing.T, via fetch.Proxy, resolver fetch.Resolver, dial func(context.Context, string, netip.AddrPort) (net.Conn, error)) *Handler {
	return newLive(t, func(o *Options) {
		o.Live.AllowHosts = nil
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			return fetch.New(fetch.Options{Policy: p, Proxy: func(fetch.Target) (fetch.Proxy, error) { return via, nil }, Resolver: resolver, Dial: dial}, o.Schemes...), nil
		}
	})
}

// entered returns the path of the live page of a URL that the user entered.
func entered(h *Handler, url string) string {
	return "/live;via=" + h.gate.key.Sign(guard.Permission{Level: guard.Entered}, uri.MustParse(url)) + "/" + url
}

// TestProxiedPeer shows a page that the user entered through a tunnel to an address.
// A link to the same host must use the same address, because another answer of DNS
// could be private.
func TestProxiedPeer(t *testing.T) {
	var asked journal
	proxy := newTunnel(t, &asked, "<img src=/x>")
	h := newProxied(t, fetch.Proxy{URL: uri.MustParse(proxy.URL), Tunnel: true}, fixedNames{"page.example": hostileHost}, nil)
	page := get(h, "GET", entered(h, "http://page.example/"))
	for _, image := range regexp.MustCompile(`<img src="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1) {
		get(h, "GET", html.UnescapeString(image[1]))
	}
	if got := strings.Join(asked.all(), " "); got != hostileHost+":80 "+hostileHost+":80" {
		t.Errorf("the proxy got %q", got)
	}
}

// TestProxiedNames enters URLs in a Handler whose proxy resolves names. With
// socks5h, no name is resolved. An http proxy gets names that this machine cannot
// resolve, if it resolves no names of the Internet. Private names need a
// confirmation.
func TestProxiedNames(t *testing.T) {
	for _, c := range []struct {
		proxy, url string
		status     int
		dials      bool
	}{
		{"socks5h://127.0.0.1:9", "http://page.example/", 502, true},
		{"socks5h://127.0.0.1:9", "gopher://hidden.onion/", 502, true},
		{"socks5h://127.0.0.1:9", "http://nas/", 403, false},
		{"socks5h://127.0.0.1:9", "http://10.0.0.1/", 403, false},
		{"http://127.0.0.1:9", "http://page.example/", 502, true},
		{"http://127.0.0.1:9", "gopher://page.example/", 502, true},
		{"http://127.0.0.1:9", "http://db.internal/", 502, false},
	} {
		resolved, dialed := false, false
		h := newProxied(t, fetch.Proxy{URL: uri.MustParse(c.proxy)}, resolverFunc(func(host string) ([]netip.Addr, error) {
			resolved = true
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}), func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			dialed = true
			return nil, net.ErrClosed
		})
		w := get(h, "GET", entered(h, c.url))
		if w.Code != c.status || dialed != c.dials || resolved && strings.HasPrefix(c.proxy, "socks5h") {
			t.Errorf("%s through %s: status %d, resolved = %v, dialed = %v", c.url, c.proxy, w.Code, resolved, dialed)
		}
	}
}

type resolverFunc func(host string) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return f(host)
}
