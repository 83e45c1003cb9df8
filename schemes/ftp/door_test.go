package ftp_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/uri"
)

// names resolves one name; of the others it says what its error says.
type names struct{ error }

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "ftp.example.org" {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
	}
	return nil, n.error
}

// TestUnreachable: what keeps a request from its server, by itself or by way
// of a proxy, is told as what it is, and no password leaves us.
func TestUnreachable(t *testing.T) {
	const proxy = "192.0.2.9:3128"
	answer := func(text string) faultnet.Script {
		return faultnet.Script{faultnet.Expect(`^CONNECT ftp\.example\.org:21 HTTP/1\.1\r\n`), faultnet.Send(text), faultnet.Fin()}
	}
	for _, test := range []struct {
		name   string
		host   string
		server faultnet.Script
		proxy  faultnet.Script
		lookup error
		want   fetch.Fault
		within time.Duration
	}{
		{name: "refused", server: faultnet.Script{faultnet.Refuse()}, want: fetch.Connect},
		{name: "silent", server: faultnet.Script{faultnet.Blackhole()}, want: fetch.Timeout, within: 11 * time.Second},
		{name: "no such name", host: "none.example.org", lookup: &net.DNSError{Err: "no such host", IsNotFound: true}, want: fetch.DNS},
		{name: "no answer about the name", host: "none.example.org", lookup: &net.DNSError{Err: "server misbehaving", IsTemporary: true}, want: fetch.DNS},
		{name: "proxy refuses", proxy: faultnet.Script{faultnet.Refuse()}, want: fetch.Connect},
		{name: "proxy denies", proxy: answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), want: fetch.Connect},
		{name: "proxy wants a login", proxy: answer("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"), want: fetch.Auth},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := faultnet.NewNetwork(t)
				var served []*faultnet.Server
				o := fetch.Options{Policy: fetch.Typed(), Dial: n.Dial, Resolver: names{test.lookup}}
				if test.server != nil {
					served = append(served, n.Serve("192.0.2.1:21", test.server))
				}
				if test.proxy != nil {
					served = append(served, n.Serve(proxy, test.proxy))
					o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
						return fetch.Proxy{URL: uri.MustParse("http://" + proxy)}, nil
					}
				}
				host := test.host
				if host == "" {
					host = "ftp.example.org"
				}
				w := &world{Network: n, client: fetch.New(o, ftp.Schemes(ftp.Options{})...)}
				body, took, err := w.get(t.Context(), "ftp://bob:secret@"+host+"/x")
				wantFault(t, body, err, test.want)
				if took > test.within {
					t.Errorf("took %v", took)
				}
				w.client.Close()
				synctest.Wait()
				for _, s := range served {
					for _, c := range s.Conns() {
						if strings.Contains(string(c.Sent()), "secret") {
							t.Errorf("sent %q", c.Sent())
						}
					}
				}
			})
		})
	}
}
