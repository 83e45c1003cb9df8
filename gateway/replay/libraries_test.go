package replay

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/scriptsites"
	"github.com/anyurl/fetch/internal/test/warctest"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// captured is the date of the captures of scriptsites.
var captured = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// capture writes the answers of a server of scriptsites to an archive, and opens
// it.
func capture(t *testing.T, s *scriptsites.Server) *warc.Archive {
	t.Helper()
	return warctest.Open(t, warc.Options{}, func(w *warc.Writer) {
		requests := scriptsites.Requests
		for _, url := range s.URLs() {
			requests = append(requests, scriptsites.Request{Method: "GET", URL: url})
		}
		for _, q := range requests {
			r := httptest.NewRequest(q.Method, q.URL, strings.NewReader(q.Body))
			r.Header.Set("Content-Type", q.Media)
			sent := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n\r\n%s", q.Method, r.URL.RequestURI(), r.Host, q.Media, q.Body)
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, r)
			received, err := httputil.DumpResponse(answer.Result(), true)
			if err != nil {
				t.Fatal(err)
			}
			c := warc.Capture{URL: uri.MustParse(q.URL), Date: captured}
			if _, err := w.Write(c.Response(strings.NewReader(string(received))), c.Request(strings.NewReader(sent))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestLibraries replays the sites of scriptsites: in a browser without a proxy,
// in which only the pages that need their original URL fail, and in a browser
// whose only network is a Proxy.
func TestLibraries(t *testing.T) {
	t.Parallel()
	a := capture(t, scriptsites.New(t))
	t.Run("host names", func(t *testing.T) {
		s, address := startSite(t, Archive{"sites", a})
		b := browsertest.Start(t, address)
		openSites(b, func(url string) string { return s.PageURL(0, captured, uri.MustParse(url)) }, func(p *browsertest.Page, c scriptsites.Site, passed bool) {
			if passed == c.NeedsOriginalURL {
				t.Errorf("%s: %s: %q", c.Name, p.Eval("document.title"), p.Errors())
			}
		})
	})
	t.Run("proxy", func(t *testing.T) {
		address, keyHash := startProxy(t, &Proxy{Archives: []Archive{{"other", openSamples(t, samples...)}, {"sites", a}}})
		b := browsertest.StartWithProxy(t, address, keyHash)
		openSites(b, func(url string) string { return url }, func(p *browsertest.Page, c scriptsites.Site, passed bool) {
			if !passed {
				t.Errorf("%s: %s: %q", c.Name, p.Eval("document.title"), p.Errors())
			}
		})
	})
}

// openSites opens each site of scriptsites, and reports whether it passed. The
// function address returns the URL that the browser opens.
func openSites(b *browsertest.Browser, address func(string) string, report func(p *browsertest.Page, c scriptsites.Site, passed bool)) {
	for _, c := range scriptsites.Sites {
		p := b.Open(address(c.URL))
		p.Wait("/^(passed|failed)/.test(document.title)")
		report(p, c, p.Eval("document.title") == "passed")
		p.Go("about:blank")
	}
}

// startProxy starts a proxy that decrypts https and whose requests h answers. It
// returns its address and the hash of its key.
func startProxy(t *testing.T, h http.Handler) (address, keyHash string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	server := &mitm.Server{CA: ca, Handler: h, ErrorLog: log.New(io.Discard, "", 0)} // browsers close idle connections
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, time.Second) }()
	t.Cleanup(func() {
		cancel()
		<-served // browsers keep connections open
	})
	return l.Addr().String(), ca.KeyHash()
}
