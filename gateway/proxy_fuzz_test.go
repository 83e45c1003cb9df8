package gateway

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// loopbackNames resolves every name to loopback.
type loopbackNames struct{}

func (loopbackNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// FuzzProxy sends proxy requests. None may lead to a connection to an address
// that is not public, and no refused URL may add a form or a link of the server.
func FuzzProxy(f *testing.F) {
	for _, s := range []string{
		"gopher://h.example/1/", "gopher://127.0.0.1/1/", "ftp://u:p@h/", "news:a.b", "http://h/", "file:///etc/passwd", "gopher://[::1%25lo]/", "x:", "gopher:",
		"gopher://h/7/s?a", "wais://h/db?q", "GOPHER://[::ffff:10.0.0.1]/1", "ftp://2130706433/", "finger://h:22/u", "data:text/html,x", "news://0/*",
	} {
		f.Add(s, "lynx")
		f.Add(s, "w3m/0.5.3")
	}
	h := newLive(f, func(o *Options) {
		o.Live.AllowHosts = nil
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			dial := func(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
				if a := to.Addr(); a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() {
					panic("connection to " + to.String())
				}
				return nil, errors.New("no network")
			}
			return fetch.New(fetch.Options{Policy: p, Dial: dial, Resolver: loopbackNames{}}, o.Schemes...), nil
		}
	})
	f.Fuzz(func(t *testing.T, target, agent string) {
		if len(target) > maxTarget || !absoluteForm().MatchString(target) {
			return
		}
		w := get(h, "GET", target, "User-Agent: "+agent)
		if body := w.Body.String(); strings.Contains(body, `href="/`) || strings.Contains(body, `name="token"`) {
			t.Errorf("%q: %d: %s", target, w.Code, body)
		}
	})
}

// FuzzClientOf reads the address of a client from a header. The address is
// always one of the connection and the field.
func FuzzClientOf(f *testing.F) {
	for _, s := range []string{"192.0.2.1", "192.0.2.1, 127.0.0.1", ",,", "unknown", "::1%lo,127.0.0.1", "[::1]:80", "127.0.0.1,127.0.0.1"} {
		f.Add(s)
	}
	p := &public{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	f.Fuzz(func(t *testing.T, forwarded string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "127.0.0.1:1000"
		r.Header.Set("X-Forwarded-For", forwarded)
		got := p.clientOf(r)
		if !got.IsValid() || got != netip.MustParseAddr("127.0.0.1") && !strings.Contains(forwarded, got.Zone()) {
			t.Errorf("%q: %v", forwarded, got)
		}
		r.RemoteAddr = "192.0.2.9:1000"
		if got := p.clientOf(r); got.String() != "192.0.2.9" {
			t.Errorf("%q: the field of a client was used: %v", forwarded, got)
		}
	})
}
