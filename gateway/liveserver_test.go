package gateway

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestLiveWeb shows pages of a web server, and checks which header fields pass.
func TestLiveWeb(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{Server: strings.Join([]string{
		"add_header Set-Cookie a=b; add_header Refresh '0; url=http://evil.example/'; add_header Access-Control-Allow-Origin *;",
		"add_header Content-Security-Policy 'script-src *'; add_header Link '<http://evil.example/>; rel=preconnect'; add_header X-Test yes;",
		"location = /moved { return 301 /page.html; }",
		"location = /away { return 302 http://10.1.2.3/x; }",
		"location = /scheme { return 302 file:///etc/passwd; }",
		"location = /unknown { return 302 nosuch:x; }",
		"location = /login { return 401; }",
		"location = /zipped { add_header Content-Encoding gzip; default_type text/plain; }",
	}, "")})
	s.Put("page.html", []byte(`<html><head><link rel=preconnect href=//evil.example></head><body><img src=a.gif><a href=/moved>m</a>`+
		`<a href="gopher://g.example/">g</a><a href="mailto:x@y">w</a><form action=/find><input name=q></form><script>1</script>`))
	s.Put("find", []byte("found"))
	s.Put("a.gif", []byte(image))
	s.Put("zipped", []byte(zipped("unzipped text")))
	s.Put("file.zip", []byte("PK\x05\x06"))
	h := newLive(t, nil)
	base := "http://" + s.Addr
	for name, c := range map[string]struct {
		target string
		status int
		want   []string // texts in the header and the body; "!" means that the text must be missing
	}{
		"page": {"/live/" + base + "/page.html", 200, []string{
			"Content-Security-Policy: sandbox allow-downloads allow-forms allow-popups;", "script-src 'none'", "frame-ancestors 'none'",
			"X-Frame-Options: DENY", "Last-Modified: ", "Cache-Control: no-store", "Answered by 127.0.0.1", `<img src="/live;inline;via=l`,
			"/" + base + `/a.gif"`, `href="/live;via=l`, `action="/live;via=f`, "!Set-Cookie", "!Refresh", "!X-Test",
			"!Access-Control", "!Link: ", "!script-src *", "!evil.example", `/gopher://g.example/"`, `href="mailto:x@y"`}},
		"bytes":                         {"/raw/" + base + "/page.html", 200, []string{"Content-Disposition: attachment", "Content-Length: 2", "rel=preconnect", "sandbox"}},
		"image":                         {"/live/" + base + "/a.gif", 200, []string{`<img src="/raw;via=`, "SHA-256"}},
		"image bytes":                   {"/raw/" + base + "/a.gif", 200, []string{"Content-Type: image/gif", "!Content-Disposition", "nosniff"}},
		"inline image":                  {"/live;inline/" + base + "/a.gif", 200, []string{"Content-Type: image/gif", "GIF89a"}},
		"download":                      {"/live/" + base + "/file.zip", 200, []string{`Content-Disposition: attachment; filename=file.zip`, "Content-Type: application/zip"}},
		"redirect":                      {"/live/" + base + "/moved", 301, []string{"Location: /live;via=l", "/" + base + "/page.html"}},
		"raw redirect":                  {"/raw/" + base + "/moved", 301, []string{"Location: /raw;via=l"}},
		"redirect to a private address": {"/live/" + base + "/away", 302, []string{"Location: /live;via=l", "/http://10.1.2.3/x"}},
		"redirect to a file":            {"/live/" + base + "/scheme", 302, []string{"Location: /live;via=l"}},
		"redirect to an unknown scheme": {"/live/" + base + "/unknown", 502, []string{"nosuch:x"}},
		"missing":                       {"/live/" + base + "/missing", 404, []string{"404 Not Found", "sandbox"}},
		"login":                         {"/live/" + base + "/login", 401, []string{"!WWW-Authenticate"}},
		"zipped text":                   {"/live/" + base + "/zipped", 200, []string{"<pre>unzipped text"}},
		"zipped bytes":                  {"/raw/" + base + "/zipped", 200, []string{"\nunzipped text", "!Content-Encoding"}},
		"refused connection":            {"/live/http://127.0.0.1:9/", 403, nil},
		"parameter of a listing":        {"/live;sort=size;page=2/" + base + "/page.html", 200, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(h, "GET", c.target)
			checkResponse(t, w, c.status, c.want)
			if head := get(h, "HEAD", c.target); head.Code != w.Code || head.Body.Len() > 0 && w.Code == 200 {
				t.Errorf("HEAD: %d, %d bytes", head.Code, head.Body.Len())
			}
		})
	}
	// The private target of the redirect is judged as a link from the server.
	w := get(h, "GET", get(h, "GET", "/live/"+base+"/scheme").Header().Get("Location"), navigation...)
	if w.Code != http.StatusForbidden {
		t.Errorf("redirect to a file: %d", w.Code)
	}
	// A form keeps its signature with any query.
	page := get(h, "GET", "/live/"+base+"/page.html").Body.String()
	_, action, _ := strings.Cut(page, `action="`)
	action, _, _ = strings.Cut(action, `"`)
	if w := get(h, "GET", action+"?q=1", "Sec-Fetch-Site: cross-site"); w.Code != 200 {
		t.Errorf("form: %d %s", w.Code, w.Body)
	}
	if w := get(h, "GET", strings.Replace(action, "/find", "/page.html", 1)+"?q=1", "Sec-Fetch-Site: cross-site"); w.Code != 403 {
		t.Errorf("form with another path: %d", w.Code)
	}
}

// A counter is a ResponseWriter that counts the bytes of the body.
type counter struct {
	header http.Header
	status int
	bytes  int64
}

func (c *counter) Header() http.Header         { return c.header }
func (c *counter) WriteHeader(status int)      { c.status = status }
func (c *counter) Write(p []byte) (int, error) { c.bytes += int64(len(p)); return len(p), nil }

// requireConstantMemory requests target and fails if the heap grows by more than
// limit bytes.
func requireConstantMemory(t *testing.T, h http.Handler, target string, limit int64) *counter {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI, r.Host = target, "localhost:8700"
	c := &counter{header: http.Header{}, status: 200}
	h.ServeHTTP(c, r)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > limit {
		t.Errorf("%s: the heap grew by %d bytes", target, grown)
	}
	return c
}

// TestLiveLarge requests a large file and a long listing.
func TestLiveLarge(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{})
	h := newLive(t, nil)
	const size = 1 << 30
	if err := os.Truncate(web.Put("big.bin", nil), size); err != nil {
		t.Fatal(err)
	}
	if c := requireConstantMemory(t, h, "/raw/http://"+web.Addr+"/big.bin", 16<<20); c.status != 200 || c.bytes != size {
		t.Errorf("large file: %d, %d bytes", c.status, c.bytes)
	}
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	const entries = 1_000_000
	var menu strings.Builder
	for i := range entries {
		fmt.Fprintf(&menu, "0Item %d\t/item/%d\tg.example\t70\r\n", i, i)
	}
	s.Put("menu.txt", []byte(menu.String()))
	menu.Reset()
	for _, page := range []string{"", ";page=1000"} {
		c := requireConstantMemory(t, h, "/live"+page+"/gopher://"+s.Addr+"/1/menu.txt", 48<<20)
		if c.status != 200 || c.bytes < 100_000 {
			t.Errorf("page %q: %d, %d bytes", page, c.status, c.bytes)
		}
	}
}
