package replay

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/warctest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A sample is a captured HTTP response.
type sample struct{ date, url, response string }

// ok returns a response with a media type and a body.
func ok(media, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(body), body)
}

// openSamples writes an archive and opens it.
func openSamples(t testing.TB, samples ...sample) *warc.Archive {
	t.Helper()
	return warctest.Open(t, warc.Options{}, func(w *warc.Writer) {
		for _, s := range samples {
			at, err := time.Parse("20060102", s.date)
			if err != nil {
				t.Fatal(err)
			}
			c := warc.Capture{URL: uri.MustParse(s.url), Date: at}
			if _, err := w.Write(c.Response(strings.NewReader(s.response))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// testAddress is the address of the Sites in tests without a listener.
var testAddress = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8701}

func newSite(t testing.TB, address net.Addr, archives ...Archive) *Site {
	t.Helper()
	s, err := NewSite(Options{Address: address, Schemes: schemes.All(schemes.Options{}), Archives: archives, Home: "http://127.0.0.1:8700/"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startSite serves a Site on loopback until the end of the test, and returns its
// address.
func startSite(t *testing.T, archives ...Archive) (*Site, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, l.Addr(), archives...)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, time.Second) }()
	t.Cleanup(func() {
		cancel()
		<-served // browsers keep connections open
	})
	return s, l.Addr().String()
}

// get sends a request for a URL to a Site. The lines in fields are header fields.
func get(h http.Handler, method, url string, fields ...string) *httptest.ResponseRecorder {
	rest := strings.TrimPrefix(url, "http://")
	host, target, _ := strings.Cut(rest, "/")
	r := httptest.NewRequest(method, "/", nil)
	r.Host, r.RequestURI = host, "/"+target
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
