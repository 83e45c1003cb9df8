package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/gateway/replay"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/warc"
)

// pageObjects is the number of objects of the replayed page, of which each third is
// scripts, pictures and texts. Each has 14 KiB.
const pageObjects = 99

// replayCases returns the case that compares a live page in a browser with the
// same page from an archive.
func replayCases() []Case {
	return []Case{{Name: "replay a page of 100 requests", Measure: measureReplay}}
}

// measureReplay archives a page, and opens it in the same browser live and from
// the archive. The time is that from the first request of the browser to the end of
// the last response.
func measureReplay(b *block, opts options) []row {
	page := servePage(b)
	dir := filepath.Join(scratchDir(b, false), "archive")
	archiver := program{path: opts.program, args: []string{"--no-config", "-s", "mirror", "--browser", "--page", "--warc", "--no-tree", "--output-dir", dir, page}}
	if _, _, err := archiver.watch(b); err != nil {
		b.Fatalf("bench: %v", err)
	}
	archive, err := warc.Open(dir)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	b.Cleanup(func() { archive.Close() })
	own, err := browser.Open(b.ctx, browser.Options{Tabs: 1, PageIdle: 300 * time.Millisecond, Child: true})
	if err != nil {
		b.Skipf("bench: %v", err)
	}
	b.Cleanup(own.Close)
	server := startServe(b, opts.program, dir, "--scripts", "--scripts-listen", "127.0.0.1:0")
	network := passOn(b)
	ways := []struct {
		name, url string
		handler   http.Handler
		times     []float64
	}{
		{name: "live", url: page, handler: network},
		{name: "replay a page of 100 requests, in a browser of fetch", url: page,
			handler: &replay.Proxy{Archives: []replay.Archive{{Name: "bench", Source: archive}}}},
		{name: "replay a page of 100 requests, in another browser", url: scriptsLink(b, server, page), handler: network},
	}
	for run := range opts.runs + 1 {
		for i := range ways {
			w := &ways[i]
			if took := openPage(b, own, w.url, w.handler); run > 0 { // the first run fills caches
				w.times = append(w.times, took)
			}
		}
	}
	server.stop(b)
	var rows []row
	for _, w := range ways[1:] {
		rows = append(rows, row{name: w.name, kind: wall, fetch: middle(w.times), rival: "live", other: middle(ways[0].times), target: &Target{Measure: wall, Ratio: 1.5}})
	}
	return rows
}

// servePage starts nginx with a page and its objects. It returns the URL of the
// page, which shows the word loaded when all objects are loaded.
func servePage(b *block) string {
	s := peer.Nginx(b, peer.NginxOptions{})
	padding := strings.Repeat("0123456789abcde\n", 14<<10/16)
	var page strings.Builder
	page.WriteString("<!DOCTYPE html><title>page</title><body>")
	for i := range pageObjects / 3 {
		s.Put(fmt.Sprintf("%d.js", i), []byte("/*"+padding+"*/ window.ran = (window.ran ?? 0) + 1"))
		s.Put(fmt.Sprintf("%d.svg", i), []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--`+padding+"--></svg>"))
		s.Put(fmt.Sprintf("%d.txt", i), []byte(padding))
		fmt.Fprintf(&page, "<script src=%d.js></script><img src=%d.svg>", i, i)
	}
	fmt.Fprintf(&page, `<script>
		const texts = Array.from({length: %[1]d}, (_, i) => fetch(i + '.txt').then(r => r.text()))
		const loaded = new Promise(done => onload = done)
		Promise.all([loaded, ...texts]).then(() => { if (window.ran == %[1]d) document.body.append('load' + 'ed') })
		</script>`, pageObjects/3)
	s.Put("page.html", []byte(page.String()))
	return "http://" + s.Addr + "/page.html"
}

// passOn returns a handler that sends requests to the servers on loopback, also
// those for host names below localhost.
func passOn(b *block) http.Handler {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}
	transport := &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 16}
	b.Cleanup(transport.CloseIdleConnections)
	return &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: transport}
}

// linkWithScripts matches the link to the page of a capture with its scripts.
var linkWithScripts = regexp.MustCompile(`href="(http://[^"]+)">with scripts<`)

// scriptsLink returns the URL at which fetch serve shows a page with its scripts.
func scriptsLink(b *block, s *serving, page string) string {
	resp, err := http.Get("http://" + s.addr + s.base + "2099/" + page)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	found := linkWithScripts.FindSubmatch(text)
	if err != nil || found == nil {
		b.Fatalf("bench: no page with scripts: %v: %s", err, text)
	}
	return string(found[1])
}

// openPage opens a page in a browser and returns the time of its requests in
// seconds.
func openPage(b *block, in *browser.Browser, url string, h http.Handler) float64 {
	s := &stopwatch{next: h}
	page, err := in.Visit(b.ctx, &browser.Visit{URL: url, Handler: s})
	if err != nil {
		b.Fatalf("bench: %s: %v", url, err)
	}
	loaded := false
	for _, f := range page.Frames {
		loaded = loaded || strings.Contains(f.HTML, "loaded</body>")
	}
	if !loaded || s.requests <= pageObjects {
		b.Fatalf("bench: %s: loaded %v with %d requests: %+v", url, loaded, s.requests, page)
	}
	return s.last.Sub(s.first).Seconds()
}

// A stopwatch records the start of the first request and the end of the last
// response.
type stopwatch struct {
	next http.Handler

	mu          sync.Mutex
	requests    int
	first, last time.Time
}

func (s *stopwatch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.requests++; s.requests == 1 {
		s.first = time.Now()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = time.Now()
	}()
	s.next.ServeHTTP(w, r)
}
