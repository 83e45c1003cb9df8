package faultnet

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"
)

// Relay starts an HTTP server on loopback and returns its address. The server
// forwards each request to another server, whose address is the parameter to.
// It calls request before it forwards a request, and response before it
// forwards the response. Both functions may replace the body. If there is no
// response, or if response returns an error, Relay closes the connection of the
// client.
func Relay(t testing.TB, to string, request func(*http.Request), response func(*http.Response) error) (addr string) {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "http", to
			p.Out.Host = p.In.Host // signatures contain the host
			request(p.Out)
		},
		ModifyResponse: response,
		Transport:      &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// AtHalf replaces the body of r by one that calls f once half of the body was
// read.
func AtHalf(r *http.Request, f func()) {
	r.Body = &halfBody{r.Body, r.ContentLength / 2, f}
}

// halfBody is a body that calls half, once, after the first left bytes were
// read.
type halfBody struct {
	io.ReadCloser
	left int64
	half func()
}

func (b *halfBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p[:min(len(p), 32<<10)])
	if b.left -= int64(n); b.left <= 0 && b.half != nil {
		b.half()
		b.half = nil
	}
	return n, err
}
