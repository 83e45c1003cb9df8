package wais_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/uri"
)

// TestNames: whatever the resolver says.
func TestNames(t *testing.T) {
	for err, want := range map[*net.DNSError]fetch.Fault{
		{Err: "no such host", IsNotFound: true}:        fetch.DNS,
		{Err: "server misbehaving", IsTemporary: true}: fetch.DNS,
	} {
		c := client(t, func(o *fetch.Options) {
			o.Resolver = resolver{err}
			o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
				t.Error("dialled")
				return nil, syscall.ECONNREFUSED
			}
		})
		if _, got := c.Get(t.Context(), "wais://nowhere.example/db?x"); !errors.Is(got, want) || fetch.Retryable(got) != err.IsTemporary {
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
	connect := faultnet.Expect("^CONNECT 192.0.2.1:210 HTTP/1.1\r\n(.+\r\n)*\r\n")
	for name, c := range map[string]struct {
		script      faultnet.Script
		fault, body string
	}{
		"tunnel":          {append(faultnet.Script{connect, faultnet.Send("HTTP/1.1 200 ok\r\n\r\n")}, ready(faultnet.Send(message(chunk(id, "12345678"))))...), "ok", "12345678"},
		"wants a login":   {faultnet.Script{connect, faultnet.Send("HTTP/1.1 407 no\r\nContent-Length: 0\r\n\r\n")}, "auth", ""},
		"cannot reach it": {faultnet.Script{connect, faultnet.Send("HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n")}, "connect", ""},
		"is not there":    {faultnet.Script{faultnet.Refuse()}, "connect", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := faultnet.NewNetwork(t)
				s := net.Serve("192.0.2.9:3128", c.script)
				client := client(t, func(o *fetch.Options) {
					o.Dial = net.Dial
					o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
						return fetch.Proxy{URL: uri.MustParse("http://192.0.2.9:3128")}, nil
					}
				})
				if got := get(t.Context(), client, host+known); got.fault != c.fault || got.body != c.body {
					t.Errorf("got %s, %q, %v, want %s, %q", got.fault, got.body, got.err, c.fault, c.body)
				}
				client.Close()
				s.Close()
			})
		})
	}
}
