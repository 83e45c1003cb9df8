package http_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestDeadNetworks tests outages in each phase of a request.
func TestDeadNetworks(t *testing.T) {
	certs := faultnet.NewCerts(t, "192.0.2.1")
	text := strings.Repeat("hello ", 100)
	request := faultnet.Expect(`^GET /x HTTP/1.1\r\n(?s:.*?)\r\n\r\n`)
	requests := func(response ...faultnet.Step) (all faultnet.Script) {
		for range 3 {
			all = append(append(all, request), response...)
		}
		return append(all, faultnet.Stall())
	}
	length := faultnet.Send("HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + text)
	http1 := func() []fetch.Scheme { return http.Schemes(http.Options{HTTP1: true}) }
	http2 := func() []fetch.Scheme { return http.Schemes(http.Options{}) }
	serve := func(addr string, script faultnet.Script) func(*faultnet.Network) func() {
		return func(n *faultnet.Network) func() { return n.Serve(addr, script).Close }
	}
	trust := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: certs.Pool} }
	through := func(proxy string) func(*fetch.Options) {
		return func(o *fetch.Options) {
			trust(o)
			o.Proxy = func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{URL: uri.MustParse(proxy)}, nil }
		}
	}
	connect := faultnet.Script{faultnet.Expect(`^CONNECT 192.0.2.1:443 HTTP/1.1\r\n(?s:.*?)\r\n\r\n`), faultnet.Send("HTTP/1.1 200 ok\r\n\r\n")}
	socks := faultnet.Script{faultnet.Expect(`(?s)^\x05.\x00`), faultnet.Send("\x05\x00"),
		faultnet.Expect(`(?s)^\x05\x01\x00.......`), faultnet.Send("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")}
	frames := serveFrames(func(s *frameServer, stream uint32) {
		s.headers(stream, "200", false, "content-length", "600")
		s.data(stream, text, true)
	})
	schemetest.RunOutages(t, schemetest.Outage{
		Name: "http, known length", Schemes: http1, URL: "http://192.0.2.1/x", Body: text,
		Phases: [][]string{{"response"}}, Serve: serve("192.0.2.1:80", requests(length)),
	}, schemetest.Outage{
		Name: "http, chunked", Schemes: http1, URL: "http://192.0.2.1/x", Body: text,
		Phases: [][]string{{"response"}},
		Serve: serve("192.0.2.1:80", requests(faultnet.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12c\r\n"+
			text[:300]+"\r\n12c\r\n"+text[300:]+"\r\n0\r\n\r\n"))),
	}, schemetest.Outage{
		Name: "http, no length", Schemes: http1, URL: "http://192.0.2.1/x", Body: text, OpenEnd: true,
		Phases: [][]string{{"response"}},
		Serve:  serve("192.0.2.1:80", faultnet.Script{request, faultnet.Send("HTTP/1.1 200 OK\r\n\r\n" + text)}),
	}, schemetest.Outage{
		Name: "https", Schemes: http1, URL: "https://192.0.2.1/x", Body: text, Client: trust,
		Phases: [][]string{{"TLS handshake", "response"}},
		Serve:  serve("192.0.2.1:443", append(faultnet.Script{certs.TLS()}, requests(length)...)),
	}, schemetest.Outage{
		Name: "https, HTTP/2", Schemes: http2, URL: "https://192.0.2.1/x", Body: text, Client: trust,
		Phases: [][]string{{"TLS handshake", "SETTINGS", "response"}}, Multiplexed: true,
		Serve: serve("192.0.2.1:443", faultnet.Script{certs.TLS("h2"), frames}),
	}, schemetest.Outage{
		Name: "https, http proxy", Schemes: http1, URL: "https://192.0.2.1/x", Body: text, Client: through("http://192.0.2.9:3128"),
		Phases: [][]string{{"CONNECT", "TLS handshake", "response"}},
		Serve:  serve("192.0.2.9:3128", append(append(connect, certs.TLS()), requests(length)...)),
	}, schemetest.Outage{
		Name: "http, socks5 proxy", Schemes: http1, URL: "http://192.0.2.1/x", Body: text, Client: through("socks5://192.0.2.9:1080"),
		Phases: [][]string{{"method", "CONNECT", "response"}},
		Serve:  serve("192.0.2.9:1080", append(socks, requests(length)...)),
	})
}
