package ftp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// TestProxies: the control connection and each data connection go the same
// way, in clear and encrypted.
func TestProxies(t *testing.T) {
	server := peer.Vsftpd(t, peer.FTPOptions{TLS: true, Config: []string{"require_ssl_reuse=YES"}})
	server.Put("motd", []byte("hello\n"))
	for proxyScheme, start := range map[string]func(peer.TB, peer.ProxyOptions) *peer.Server{
		"socks5": peer.Microsocks, "socks5h": peer.Microsocks, "socks4": peer.Dante, "http": peer.Tinyproxy,
	} {
		t.Run(proxyScheme, func(t *testing.T) {
			proxy := start(t, peer.ProxyOptions{})
			through := func(o *fetch.Options) {
				o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
					u, err := uri.Parse(proxyScheme + "://" + proxy.Addr)
					return fetch.Proxy{URL: u}, err
				}
			}
			c := client(t, ftp.Options{}, through)
			for _, path := range []string{"/motd", "/"} {
				if got := get(t, c, "ftp://"+server.Addr+path); !strings.Contains(got, "motd") && got != "hello\n" {
					t.Errorf("%s: got %q", path, got)
				}
			}
			c = client(t, ftp.Options{TLS: scheme.TLSRequired}, through, trusting(server, 0))
			if got := get(t, c, "ftp://"+server.Addr+"/motd"); got != "hello\n" {
				t.Errorf("encrypted: got %q", got)
			}
			if _, err := client(t, ftp.Options{Active: "-"}, through).Get(t.Context(), "ftp://"+server.Addr+"/motd"); !errors.Is(err, fetch.Unsupported) {
				t.Errorf("active mode: %v", err)
			}
			proxy.Stop()
			if _, err := client(t, ftp.Options{}, through).Get(t.Context(), "ftp://"+server.Addr+"/motd"); !errors.Is(err, fetch.Connect) {
				t.Errorf("no proxy: %v", err)
			}
		})
	}
}
