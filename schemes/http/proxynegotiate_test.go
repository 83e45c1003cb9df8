package http_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestProxyNegotiate checks that the function of fetch.Proxy.Negotiate reaches its
// KDC without a proxy for every URL, but no metadata service.
func TestProxyNegotiate(t *testing.T) {
	for _, c := range []struct {
		name, from, to, kdc string
		want                string // the addresses that are dialed
	}{
		{"request", "", "http://8.8.8.8/", "10.0.0.88:88", "10.0.0.88:88 127.0.0.1:3128"},
		{"tunnel", "", "https://8.8.8.8/", "10.0.0.88:88", "10.0.0.88:88 127.0.0.1:3128"},
		{"request of a link", "http://9.9.9.9/", "http://8.8.8.8/", "10.0.0.88:88", "10.0.0.88:88 127.0.0.1:3128"},
		{"tunnel of a link", "https://9.9.9.9/", "https://8.8.8.8/", "10.0.0.88:88", "10.0.0.88:88 127.0.0.1:3128"},
		{"request, metadata service", "", "http://8.8.8.8/", "169.254.169.254:88", ""},
		{"tunnel, metadata service", "", "https://8.8.8.8/", "169.254.169.254:88", ""},
	} {
		var dialed []string
		record := func(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
			dialed = append(dialed, to.String())
			if to.Port() != 88 {
				return nil, errors.New("no server")
			}
			conn, server := net.Pipe()
			server.Close()
			return conn, nil
		}
		negotiate := func(ctx context.Context, dial func(context.Context, string) (net.Conn, error)) (string, error) {
			conn, err := dial(ctx, c.kdc)
			if err != nil {
				return "", err
			}
			return "token", conn.Close()
		}
		via := fetch.Proxy{URL: uri.MustParse("http://127.0.0.1:3128"), Negotiate: negotiate}
		o := fetch.Options{Policy: fetch.Typed(), Dial: record, Proxy: func(fetch.Target) (fetch.Proxy, error) { return via, nil }}
		client := fetch.New(o, web.Schemes(web.Options{})...)
		req := &fetch.Request{URL: uri.MustParse(c.to)}
		if c.from != "" {
			req.From = &fetch.Source{URL: uri.MustParse(c.from)}
		}
		_, err := client.Do(t.Context(), req)
		if got := strings.Join(dialed, " "); got != c.want || err == nil {
			t.Errorf("%s: dialed %q, want %q: %v", c.name, got, c.want, err)
		}
		client.Close()
	}
}
