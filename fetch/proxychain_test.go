package fetch_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// addresses is a resolver that knows the addresses of one name.
type addresses []netip.Addr

func (a addresses) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return a, nil }

// TestProxyChain connects to an HTTP proxy through a SOCKS proxy.
func TestProxyChain(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("hello.txt", []byte("hello\n"))
	login := peer.ProxyOptions{Login: true}
	socks, second := peer.Microsocks(t, login), peer.Tinyproxy(t, login)
	user := peer.User + ":" + peer.Password + "@"
	_, port, _ := net.SplitHostPort(second.Addr)
	none := func(netip.AddrPort) bool { return false }
	for _, c := range []struct {
		name, first, proxy string
		blocked            func(netip.AddrPort) bool
		want               fetch.Fault // 0 means that the request succeeds
	}{
		{"SOCKS5", "socks5://" + user + socks.Addr, "http://" + user + second.Addr, nil, 0},
		{"the first proxy resolves the name", "socks5h://" + user + socks.Addr, "http://" + user + "localhost:" + port, nil, 0},
		{"the Client resolves the name", "socks5://" + user + socks.Addr, "http://" + user + "second.test:" + port, nil, 0},
		{"wrong login of the first proxy", "socks5://a:wrong@" + socks.Addr, "http://" + user + second.Addr, nil, fetch.Auth},
		{"wrong login of the second proxy", "socks5://" + user + socks.Addr, "http://a:wrong@" + second.Addr, nil, fetch.Auth},
		{"no first proxy", "socks5://127.0.0.1:1", "http://" + user + second.Addr, nil, fetch.Connect},
		{"no second proxy", "socks5://" + user + socks.Addr, "http://127.0.0.1:1", nil, fetch.Connect},
		{"SOCKS4 has no IPv6", "socks4://" + socks.Addr, "http://[::1]:1", nil, fetch.Usage},
		{"the first is an HTTP proxy", "http://" + second.Addr, "http://" + second.Addr, nil, fetch.Usage},
		{"the second is a SOCKS proxy", "socks5://" + socks.Addr, "socks5://" + socks.Addr, nil, fetch.Usage},
		{"nothing is blocked", "socks5://" + user + socks.Addr, "http://" + user + second.Addr, none, 0},
		{"the first is blocked", "socks5://" + user + socks.Addr, "http://" + user + second.Addr,
			func(a netip.AddrPort) bool { return a.String() == socks.Addr }, fetch.BadAddress},
		{"the second is blocked", "socks5://" + user + socks.Addr, "http://" + user + second.Addr,
			func(a netip.AddrPort) bool { return a.String() == second.Addr }, fetch.BadAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fetch.Proxy{URL: uri.MustParse(c.proxy), First: uri.MustParse(c.first)}
			o := fetch.Options{Policy: fetch.Typed(), Resolver: addresses{netip.MustParseAddr("127.0.0.1")},
				Proxy: func(fetch.Target) (fetch.Proxy, error) { return p, nil }}
			o.Policy.Blocked = c.blocked
			got, err := get(t, o, "raw://"+web.Addr+"/hello.txt")
			if fetch.FaultOf(err) != c.want && (err != nil || c.want != 0) || err == nil && !strings.HasSuffix(got, "\r\n\r\nhello\n") {
				t.Errorf("got %q, %v, want %v", got, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "wrong") {
				t.Errorf("the error contains a password: %v", err)
			}
		})
	}
}
