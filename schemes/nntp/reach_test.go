package nntp_test

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// TestNames: what the resolver says, and whether another attempt is worth it.
func TestNames(t *testing.T) {
	for _, err := range []*net.DNSError{{Err: "no such host", IsNotFound: true}, {Err: "server misbehaving", IsTemporary: true}} {
		c := client(t, nntp.Options{}, func(o *fetch.Options) {
			o.Resolver = resolver{err}
			o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
				t.Error("dialled")
				return nil, syscall.ECONNREFUSED
			}
		})
		if _, _, got := read(t, c, "nntp://nowhere.example/g"); fetch.FaultOf(got) != fetch.DNS || fetch.Retryable(got) != err.IsTemporary {
			t.Errorf("%v: got %v", err, got)
		}
	}
}

type resolver struct{ err error }

func (r resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, r.err
}

// TestProxy: a proxy is asked for a tunnel, and may refuse it.
func TestProxy(t *testing.T) {
	connect := faultnet.Expect("^CONNECT 192.0.2.1:119 HTTP/1.1\r\n(.+\r\n)*\r\n")
	for name, c := range map[string]struct {
		script faultnet.Script
		fault  fetch.Fault
		body   string
	}{
		"tunnel": {append(faultnet.Script{connect, faultnet.Send("HTTP/1.1 200 ok\r\n\r\n")},
			after(append(article1, faultnet.Send("x\r\n.\r\n"))...)...), 0, "x\r\n"},
		"wants a login":       {faultnet.Script{connect, faultnet.Send("HTTP/1.1 407 no\r\nContent-Length: 0\r\n\r\n")}, fetch.Auth, ""},
		"refuses":             {faultnet.Script{connect, faultnet.Send("HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n")}, fetch.Connect, ""},
		"cannot reach it":     {faultnet.Script{connect, faultnet.Send("HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")}, fetch.Connect, ""},
		"is not there":        {faultnet.Script{faultnet.Refuse()}, fetch.Connect, ""},
		"ends in the article": {append(faultnet.Script{connect, faultnet.Send("HTTP/1.1 200 ok\r\n\r\n")}, after(append(article1, faultnet.Send("x\r\n"))...)...), fetch.Truncated, "x\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := faultnet.NewNetwork(t)
				net.Serve("192.0.2.9:3128", c.script)
				client := client(t, nntp.Options{}, func(o *fetch.Options) {
					o.Dial = net.Dial
					o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
						return fetch.Proxy{URL: uri.MustParse("http://192.0.2.9:3128")}, nil
					}
				})
				_, got, err := read(t, client, "nntp://192.0.2.1/g/1")
				if fetch.FaultOf(err) != c.fault || got != c.body {
					t.Errorf("got %q, %v, want %q, %v", got, err, c.body, c.fault)
				}
				client.Close()
				synctest.Wait()
			})
		})
	}
}
