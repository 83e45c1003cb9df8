package peer_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

func TestProxy(t *testing.T) {
	for _, test := range []struct {
		name    string
		start   func(peer.TB, peer.ProxyOptions) *peer.Server
		schemes []string // names of the proxy protocol in curl
		tls     bool
		login   string // the scheme that supports a login
	}{
		{"tinyproxy", peer.Tinyproxy, []string{"http"}, false, "http"},
		{"microsocks", peer.Microsocks, []string{"socks5", "socks5h"}, false, "socks5h"},
		{"dante", peer.Dante, []string{"socks4", "socks5", "socks5h"}, false, "socks5h"},
		{"squid", peer.Squid, []string{"http"}, true, "http"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			origin := peer.Nginx(t, peer.NginxOptions{TLS: true})
			origin.Put("motd.txt", []byte("hello\n"))
			via := func(s *peer.Server, args ...string) (string, error) {
				args = append([]string{"--fail", "--noproxy", "", "--proxy-cacert", origin.Cert.File, "--cacert", origin.Cert.File}, args...)
				return tryCurl(t, args...)
			}
			plain, secure := "http://"+origin.Addr+"/motd.txt", "https://"+origin.TLSAddr+"/motd.txt"

			open := test.start(t, peer.ProxyOptions{TLS: test.tls, Cert: origin.Cert})
			for _, scheme := range test.schemes {
				for _, url := range []string{plain, secure} {
					if out, err := via(open, "-x", scheme+"://"+open.Addr, url); out != "hello\n" || err != nil {
						t.Errorf("%s by %s: %q, %v", url, scheme, out, err)
					}
				}
			}
			if test.tls {
				if out, err := via(open, "-x", "https://"+open.TLSAddr, plain); out != "hello\n" || err != nil {
					t.Errorf("by TLS: %q, %v", out, err)
				}
			}
			if log := open.Log(); !strings.Contains(log, portOf(origin.TLSAddr)) {
				t.Errorf("log %q, want port %s in it", log, portOf(origin.TLSAddr))
			}
			closed := test.start(t, peer.ProxyOptions{Login: true})
			if out, err := via(closed, "-x", test.login+"://"+closed.Addr, plain); err == nil {
				t.Errorf("without a login: %q", out)
			}
			if out, err := via(closed, "-x", test.login+"://"+peer.User+":"+peer.Password+"@"+closed.Addr, plain); out != "hello\n" || err != nil {
				t.Errorf("with a login: %q, %v", out, err)
			}
		})
	}
}

func TestTinyproxyConnectPort(t *testing.T) {
	t.Parallel()
	s := peer.Tinyproxy(t, peer.ProxyOptions{Config: []string{"ConnectPort 0"}})
	_, err := tryCurl(t, "--noproxy", "", "-x", "http://"+s.Addr, "https://"+s.Addr+"/")
	if err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("CONNECT: %v, want 403", err)
	}
}
