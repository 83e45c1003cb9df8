package http_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
)

// TestConnectionLimit sends many requests, six at a time. They use at most six
// HTTP/1 connections or two HTTP/2 connections. net/http opens the second one
// if the first is not yet ready for other requests.
func TestConnectionLimit(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{HTTP2: true})
	data := noise(3000)
	s.Put("f", data)
	for _, c := range []struct {
		name, url, proto string
		opts             http.Options
		maxConns         int64
	}{
		{"plain", "http://" + s.Addr, "HTTP/1.1", http.Options{}, 6},
		{"tls", "https://" + s.TLSAddr, "HTTP/1.1", http.Options{HTTP1: true}, 6},
		{"h2", "https://" + s.TLSAddr, "HTTP/2", http.Options{}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dialled atomic.Int64
			o := fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: s.Cert.Pool}, Dial: func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
				dialled.Add(1)
				var d net.Dialer
				return d.DialContext(ctx, network, to.String())
			}}
			client := fetch.New(o, http.Schemes(c.opts)...)
			defer client.Close()
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					for range 50 {
						resp, body, err := get(t, client, newRequest(c.url+"/f"))
						if err != nil || body != string(data) || resp.Proto != c.proto {
							t.Errorf("%d bytes, %v", len(body), err)
							return
						}
					}
				})
			}
			all.Wait()
			if n := dialled.Load(); n > c.maxConns {
				t.Errorf("%d connections, want at most %d", n, c.maxConns)
			}
		})
	}
}
