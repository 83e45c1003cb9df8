package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/wrap"
)

// A journal records lines of several goroutines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = nil
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// find returns the lines that contain text.
func (j *journal) find(text string) (found []string) {
	for _, line := range j.all() {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// The public addresses of servers in these tests. A dialer replaces them with
// addresses on loopback, so that no packet leaves the machine.
const (
	hostileHost = "1.2.3.4"
	otherHost   = "5.6.7.8"
)

// A victim is a gateway for attacks from a browser.
type victim struct {
	base     string  // URL without a path
	address  string  // host and port
	requests journal // method, target, Sec-Fetch-Site and status of the requests
	dials    journal // addresses to which the gateway tried to connect
}

// startVictim starts a gateway. Its connections to hostileHost and otherHost
// reach the server at the address to.
func startVictim(t *testing.T, to string, change func(*Options)) *victim {
	t.Helper()
	v := new(victim)
	server := httptest.NewUnstartedServer(nil)
	h := newLive(t, func(o *Options) {
		o.Address = server.Listener.Addr()
		o.Live.AllowHosts = nil
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			return fetch.New(fetch.Options{Policy: p, Dial: v.dialer(to), Wrap: wrap.Standard(wrap.Options{})}, o.Schemes...), nil
		}
		if change != nil {
			change(o)
		}
	})
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/attacker" { // the server of another site, before its name resolves to the gateway
			fmt.Fprint(w, "attacker")
			return
		}
		line := r.Method + " " + r.RequestURI + " " + r.Header.Get("Sec-Fetch-Site")
		s := &statusWriter{w, http.StatusOK}
		h.ServeHTTP(s, r)
		v.requests.add(fmt.Sprintf("%s %d", line, s.status))
	})
	server.Start()
	t.Cleanup(server.Close)
	v.base, v.address = server.URL, server.Listener.Addr().String()
	return v
}

// dialer returns a function that records the addresses of connections.
func (v *victim) dialer(to string) func(context.Context, string, netip.AddrPort) (net.Conn, error) {
	return func(ctx context.Context, network string, addr netip.AddrPort) (net.Conn, error) {
		v.dials.add(addr.String())
		if host := addr.Addr().String(); host != hostileHost && host != otherHost {
			return nil, fmt.Errorf("the test permits no connection to %s", addr)
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", to)
	}
}

// A statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// foreignPage is a page of another site. It sends requests to the server %[1]s
// in all ways that a page has. The last part of each URL names the way.
const foreignPage = `<!DOCTYPE html><title>attack</title><link rel=icon href="data:,">
<link rel=stylesheet href="%[1]s/live/%[2]s/style"><link rel=prefetch href="%[1]s/live/%[2]s/prefetch">
<style>body{background:url(%[1]s/raw/%[2]s/background)}</style>
<img src="%[1]s/raw/%[2]s/image"><img src="%[1]s/live;via=x/%[2]s/signed"><img src="%[1]s/live?url=gopher://1.2.3.4/7/s&words=queried"><img src="%[1]s/?token=guessed"><script src="%[1]s/raw/%[2]s/script"></script>
<iframe src="%[1]s/live/%[2]s/frame"></iframe><object data="%[1]s/raw/%[2]s/object"></object><embed src="%[1]s/raw/%[2]s/embed">
<video src="%[1]s/raw/%[2]s/video"></video><iframe name=in></iframe><iframe name=out></iframe>
<form id=get action="%[1]s/live/%[2]s/getform" target=in><input name=q></form>
<form id=post method=post action="%[1]s/?post" target=out><input name=url value="gopher://1.2.3.4/0/post"><input name=confirm value=1><input name=token></form>
<script>
get.submit(); post.submit()
navigator.sendBeacon('%[1]s/live/%[2]s/beacon', 'x')
new EventSource('%[1]s/raw/%[2]s/events')
const read = (name, options) => fetch('%[1]s/live/%[2]s/' + name, options).then(r => r.text()).then(t => t.length, () => 'blocked')
const xhr = new Promise(done => { const x = new XMLHttpRequest; x.open('GET', '%[1]s/live/%[2]s/xhr'); x.onload = () => done(x.responseText.length); x.onerror = () => done('blocked'); x.send() })
Promise.all([read('cors'), read('nocors', {mode: 'no-cors'}), read('posted', {method: 'POST'}), read('cookies', {credentials: 'include'}), xhr])
	.then(all => document.title = JSON.stringify(all))
</script>`

// foreignWays lists the requests of foreignPage.
var foreignWays = []string{
	"/style", "/prefetch", "/background", "/image", "/signed", "=queried", "=guessed", "/script", "/frame", "/object", "/embed", "/video", "/getform", "/?post",
	"/beacon", "/events", "/cors", "/nocors", "/posted", "/cookies", "/xhr",
}

// TestForeignPage opens a page of another site that attacks the gateway. The
// same attacks on a server without protection are the control.
func TestForeignPage(t *testing.T) {
	t.Parallel()
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("typed.txt", []byte("typed by the user\n"))
	v := startVictim(t, gopher.Addr, func(o *Options) { o.Archives = []Archive{{Name: "a", Source: openSample(t)}} })
	var open journal
	unprotected := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.add(r.RequestURI)
		w.Header().Set("Access-Control-Allow-Origin", cmpOrigin(r))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		fmt.Fprint(w, "open")
	}))
	defer unprotected.Close()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if frames := r.URL.Query().Get("frames"); frames != "" {
			fmt.Fprintf(w, `<iframe src="%s"></iframe>`, html.EscapeString(frames))
			return
		}
		fmt.Fprintf(w, foreignPage, r.URL.Query().Get("to"), "gopher://"+hostileHost+"/0")
	}))
	defer evil.Close()
	b := browsertest.Start(t, v.address, strings.TrimPrefix(unprotected.URL, "http://"), strings.TrimPrefix(evil.URL, "http://"))

	p := b.Open(evil.URL + "/?to=" + unprotected.URL)
	p.Wait("document.title.startsWith('[')")
	waitUntil(t, func() bool { return missingWays(&open) == "" })
	if got := p.Eval("document.title"); got != `[4,0,4,4,4]` {
		t.Errorf("control: the page read %s", got)
	}
	for _, site := range []string{"127.0.0.1", "localhost"} { // the same site and another site
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(evil.URL, "http://"))
		p.Go("http://" + net.JoinHostPort(site, port) + "/?to=" + v.base)
		p.Wait("document.title.startsWith('[')")
		waitUntil(t, func() bool { return missingWays(&v.requests) == "" })
		if got := p.Eval("document.title"); got != `["blocked",0,"blocked","blocked","blocked"]` {
			t.Errorf("%s: the page read %s", site, got)
		}
		for _, line := range v.requests.all() {
			if !strings.HasSuffix(line, " 403") && !strings.HasSuffix(line, " 405") {
				t.Errorf("%s: request %s", site, line)
			}
		}
		v.requests.clear()
	}
	if got := v.dials.all(); len(got) > 0 {
		t.Errorf("connections of the gateway: %q", got)
	}

	p.Eval("void (location.href = '" + v.base + "/live/gopher://" + hostileHost + "/0/followed')")
	p.Wait("document.title == 'Requests of other sites are refused'")
	for _, path := range []string{"/", "/archive/a/", "/archive/a/2024/gopher://g.example/1/", "/archive/a/*/http://a.example/"} {
		p.Go(evil.URL + "/?frames=" + v.base + path)
		if got := strings.Join(p.Errors(), "\n"); !strings.Contains(got, "Refused to display") && !strings.Contains(got, "Refused to frame") && !strings.Contains(got, "frame-ancestors") {
			t.Errorf("%s can be framed: %s", path, got)
		}
	}
	framed := b.Open(evil.URL + "/?frames=" + unprotected.URL + "/framed")
	if got := framed.Errors(); len(got) > 0 || len(open.find("/framed")) != 1 {
		t.Errorf("control: frame of the server without protection: %q", got)
	}

	p.Go(v.base + "/live/gopher://" + hostileHost + "/0/typed.txt")
	p.Wait("document.querySelector('pre').textContent.startsWith('typed by the user')")
	if got := v.dials.all(); len(got) != 1 {
		t.Errorf("control: connections for a URL that the user entered: %q", got)
	}
}

// missingWays returns the requests of foreignPage that a journal lacks.
func missingWays(j *journal) string {
	var missing []string
	for _, way := range foreignWays {
		if len(j.find(way)) == 0 {
			missing = append(missing, way)
		}
	}
	return strings.Join(missing, " ")
}

// cmpOrigin returns the origin of a request, or "*".
func cmpOrigin(r *http.Request) string {
	if o := r.Header.Get("Origin"); o != "" {
		return o
	}
	return "*"
}

// TestRebinding opens the gateway under a foreign name that resolves to its
// address. The control permits this name.
func TestRebinding(t *testing.T) {
	t.Parallel()
	start := func(hosts ...string) *victim {
		return startVictim(t, "", func(o *Options) {
			o.Archives, o.Hosts = []Archive{{Name: "a", Source: openSample(t)}}, hosts
		})
	}
	attacked, control := start(), start(browsertest.ForeignHost)
	b := browsertest.Start(t, attacked.address, control.address)
	for _, v := range []*victim{attacked, control} {
		_, port, _ := net.SplitHostPort(v.address)
		p := b.Open("http://" + browsertest.ForeignHost + ":" + port + "/attacker")
		var got []string
		for _, path := range []string{"/", "/archive/a/", "/archive/a/2024id_/gopher://g.example/0/about.txt", "/live/gopher://" + hostileHost + "/", "/raw/file:///etc/passwd"} {
			got = append(got, p.Eval("fetch('"+path+"').then(r => r.status + ' ' + r.headers.get('Content-Type'))"))
		}
		all, _ := json.Marshal(got)
		read := strings.Contains(p.Eval("fetch('/').then(r => r.text())"), "/archive/a/")
		if refused := strings.Count(string(all), `"403 `); (refused == 5) != (v == attacked) || read != (v == control) {
			t.Errorf("name permitted: %v, responses %s, the page read the archives: %v", v == control, all, read)
		}
	}
}
