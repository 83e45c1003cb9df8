package gateway

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/schemes"
)

// hostilePage is a page that tries to reach another server by markup and by a
// script, to run scripts, and to frame a page of the interface.
const hostilePage = `<!DOCTYPE html><html><head><title>hostile</title><link rel=stylesheet href=style.css>
<meta http-equiv=refresh content="0;url=%[1]s/refresh"><link rel=preconnect href="%[1]s"><link rel=dns-prefetch href="%[1]s">
<link rel=preload as=image href="%[1]s/preload"><link rel=prefetch href="%[1]s/prefetch"><style>p{background:url(%[1]s/style)}</style></head>
<body><p id=text>archived</p><img id=own src="/pixel.gif"><img src="%[1]s/image"><img srcset="%[1]s/set 1x">
<iframe id=page src="http://a.example/two?q=1"></iframe><iframe src="%[1]s/frame"></iframe><object data="%[1]s/object"></object>
<video poster="%[1]s/poster" src="%[1]s/video"></video><script src="%[1]s/script"></script>
<script>document.title = 'ran'; fetch('%[1]s/fetch').catch(() => 0); new Image().src = '%[1]s/new'</script>
<a id=two href="/two?q=1">two</a><svg><image href="%[1]s/svg"/></svg></body></html>`

// TestBrowser opens archived pages in Chromium. It checks the DOM, and that no
// request reaches another server, which the browser could connect to.
func TestBrowser(t *testing.T) {
	t.Parallel()
	outside, requests := countingServer(t)
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, func(o *Options) {
		crawl(o)
		o.Address, o.Schemes = l.Addr(), schemes.All(schemes.Options{})
		page := fmt.Sprintf(hostilePage, "http://"+outside)
		o.Archives[0].Source = openSample(t, sample{"20240101", "http://a.example/hostile", "", ok("text/html", page)})
	})
	serve(t, h, l)
	base := "http://" + l.Addr().String()
	b := browsertest.Start(t, l.Addr().String(), outside)
	p := b.Open(base + root + "2024/http://a.example/hostile")
	p.Wait("document.querySelector('#own').naturalWidth == 1")
	p.Wait("getComputedStyle(document.querySelector('#text')).color == 'rgb(1, 2, 3)'")
	p.Wait("getComputedStyle(document.querySelector('#own')).width == '7px'") // by an imported style sheet
	p.Wait("document.body.firstElementChild.textContent.startsWith('Archived 2024-01-01')")
	if got := p.Eval("document.title + ' ' + origin"); got != "hostile null" {
		t.Errorf("title and origin: %s", got)
	}
	if got := p.Eval("fetch('" + base + "/').then(() => 'read', () => 'blocked')"); got != "blocked" {
		t.Errorf("the interface from an archived page: %s", got)
	}
	link := p.Eval("document.querySelector('#two').href")
	if link != base+root+"20240101000000/http://a.example/two?q=1" {
		t.Fatalf("the link leads to %s", link)
	}
	p.Go(link)
	p.Wait("document.querySelector('h1').textContent == 'query'")
	name, content := p.Download("void (location.href = '" + root + "2024id_/http://a.example/hostile')")
	if !strings.HasPrefix(name, "hostile") || !strings.Contains(string(content), "<p id=text>") {
		t.Errorf("downloaded %s: %s", name, content)
	}
	p.Go(base + root + "2024/gopher://g.example/1/")
	p.Wait("document.querySelector('tbody a').textContent == 'About'")
	checkOverview(p, base+root)
	menu := b.Open(base + "/")
	menu.Wait("document.querySelector('main a').textContent == 'sample.warc.gz'")
	if got := menu.Eval("getComputedStyle(document.querySelector('.cards')).listStyleType"); got != "none" {
		t.Errorf("the style sheet has no effect: %s", got)
	}
	if got := menu.Errors(); len(got) > 0 {
		t.Errorf("console of the first page: %q", got)
	}
	if got := requests(); len(got) > 0 {
		t.Errorf("requests to another server: %q", got)
	}
}

// checkOverview opens the overview of the sample, submits a search, and opens a
// page that is missing from the archive.
func checkOverview(p *browsertest.Page, overview string) {
	p.Go(overview)
	p.Wait("document.querySelector('h1').textContent == 'sample.warc.gz'")
	p.Wait("[...document.querySelectorAll('h2')].map(h => h.textContent).join() == 'Start URLs,Last run,Failures,Exclusions,' +" +
		" 'Runs,Growth,Schemes,Hosts,Types,Statuses,Sizes,Options'")
	p.Wait("[...document.querySelectorAll('figure svg')].every(s => s.getBoundingClientRect().height > 100)")
	p.Wait("document.querySelectorAll('figure svg').length == 4")
	p.Wait("getComputedStyle(document.querySelector('svg .s1')).fill != getComputedStyle(document.querySelector('svg .s3')).fill")
	// The bar of the largest count is as wide as its cell.
	p.Wait("(w => w > 50 && w == document.querySelector('.counts tbody svg').getBoundingClientRect().width)" +
		"(document.querySelector('.counts tbody rect').getBoundingClientRect().width)")
	p.Eval("void (document.querySelector('#words').value = 'one a.example', document.querySelector('#words').form.requestSubmit())")
	p.Wait("document.querySelector('.found a').textContent == 'One'")
	p.Click("document.querySelector('.found a')", "document.querySelector('p').textContent == 'first' && document.querySelector('img').naturalWidth == 1")
	p.Go(overview + "2024/http://missing.example/")
	p.Wait("document.querySelector('h1').textContent == 'The archive has no capture of this URL'")
	p.Wait("document.querySelector('main a').href.endsWith('?prefix=http%3A%2F%2Fmissing.example%2F')")
}

// countingServer starts a server and returns its address, and a function that
// returns its connections and requests.
func countingServer(t *testing.T) (address string, requests func() []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	add := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, text)
	}
	s := &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { add(r.Method + " " + r.RequestURI) }),
		ConnState: func(c net.Conn, state http.ConnState) { add("connection " + strings.ToLower(state.String())) },
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}
