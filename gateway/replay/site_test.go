package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
)

// samples are the captures of the tests.
var samples = []sample{
	{"20240101", "https://a.example/", ok("text/html", `<!DOCTYPE html><html lang=en><head><title>One</title><link rel=preconnect href="https://b.example">`+
		`<script src="app.js"></script><script src="https://cdn.example/lib.js" integrity="sha256-x"></script></head><body><img src="//b.example/i.gif"><a href="https://a.example:8443/x?q=1#f">x</a><a href="gopher://g.example/">g</a>`)},
	{"20250101", "https://a.example/", ok("text/html", "<title>Two</title>")},
	{"20240101", "https://a.example/app.js", ok("text/javascript", `import x from "https://cdn.example/m.js"; var s = 'from "http://['`)},
	{"20240101", "https://a.example/worker.js", ok("text/javascript", "postMessage(1)")},
	{"20240101", "https://a.example/data?id=7&_=1", ok("application/json\r\nX-Total: 3\r\nSet-Cookie: a=b\r\nLink: <https://b.example>; rel=preconnect", `{"id":7}`)},
	{"20240101", "https://a.example/data?id=8&_=1", ok("application/json", `{"id":8}`)},
	{"20240101", "https://a.example/moved", "HTTP/1.1 301 Moved\r\nLocation: https://b.example/to?x\r\nContent-Length: 0\r\n\r\n"},
	{"20240101", "https://a.example/gone", "HTTP/1.1 410 Gone\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngone"},
	{"20240101", "https://a.example/movie", ok("video/mp4", "0123456789")},
	{"20240101", "https://a.example/style.css", ok("text/css", "p{background:url(https://b.example/i.gif)}")},
}

const (
	group  = ".20240101000000.a.localhost:8701"
	origin = "http://https.a.example" + group
)

// TestSite sends requests to the host names of archived origins.
func TestSite(t *testing.T) {
	s := newSite(t, testAddress, Archive{"a", openSamples(t, samples...)}, Archive{"a", openSamples(t, samples...)})
	for _, c := range []struct {
		name, url, fields string
		status            int
		want              []string // texts in the response; "!" negates
	}{
		{"page with a frame", "http://a.localhost:8701/20240101000000/https://a.example/x?q=1#f", "site: none", 200,
			[]string{`src="http://https.a.example.20240101000000.a.localhost:8701/x?q=1`, "frame-src http://*.20240101000000.a.localhost:8701\r\n", "X-Frame-Options: DENY"}},
		{"gopher in a frame", "http://a.localhost:8701/20240101000000/gopher://g.example/", "site: none", 404, nil},
		{"script of the frame", "http://a.localhost:8701/frame.js", "site: same-origin", 200, []string{"text/javascript"}},
		{"document", origin + "/", "site: same-site; dest: iframe", 200, []string{
			`<head><script src="/__fetch/archived.js"></script><title>One`, `<script src="/app.js"`, `src="http://https.cdn.example` + group + `/lib.js"`,
			`src="http://https.b.example` + group + `/i.gif"`, `href="http://https-8443.a.example` + group + `/x?q=1#f"`, "! integrity", "!href=\"https://b.example", "sandbox allow-scripts"}},
		{"another origin of the page", "http://https.cdn.example" + group + "/none.js", "site: same-site; dest: script", 404, nil},
		{"nearest capture", "http://https.a.example.20241231000000.a.localhost:8701/", "site: same-site; dest: iframe", 200, []string{"Two", "!One"}},
		{"http in place of https", "http://http.a.example" + group + "/app.js", "site: same-origin; dest: empty", 200, nil},
		{"second archive of the same name", "http://https.a.example.20240101000000.a-2.localhost:8701/", "site: same-site; dest: iframe", 200, []string{"One"}},
		{"document outside the frame", origin + "/x?q=1", "site: none; dest: document", 302, []string{"Location: http://a.localhost:8701/20240101000000/https://a.example/x?q=1\r\n"}},
		{"image for another site", origin + "/app.js", "site: cross-site; dest: image", 403, nil},
		{"program without Sec-Fetch-Site", origin + "/app.js", "", 403, nil},
		{"worker of a service", origin + "/worker.js", "site: same-origin; dest: serviceworker; Service-Worker: script", 403, nil},
		{"worker", origin + "/worker.js", "site: same-origin; dest: worker", 200, []string{`"origin":"https://a.example"`, "\npostMessage(1)"}},
		{"import of a complete URL", origin + "/app.js", "site: same-origin; dest: script", 200, []string{`import x from "http://https.cdn.example` + group + `/m.js"`, `from "http://['`}},
		{"script that a script reads", origin + "/app.js", "site: same-origin; dest: empty", 200, []string{`import x from "https://cdn.example/m.js"`}},
		{"script of this server", origin + "/__fetch/archived.js", "site: same-origin; dest: script", 200, []string{`"hostname":"a.example"`, `"scheme":"https"`}},
		{"redirect", origin + "/moved", "site: same-origin; dest: iframe", 301, []string{"Location: http://https.b.example" + group + "/to?x\r\n"}},
		{"redirect to a stored host", origin + "/__fetch/to/https://[2001:db8::1]:81/x", "site: same-origin; dest: iframe", 302, []string{"Location: http://https-81.x-"}},
		{"redirect to another scheme", origin + "/__fetch/to/file:///etc/passwd", "site: same-origin; dest: iframe", 404, nil},
		{"status of the server", origin + "/gone", "site: same-origin; dest: empty", 410, []string{"gone"}},
		{"other value of a parameter", origin + "/data?id=8&_=99", "site: same-origin; dest: empty", 200, []string{`{"id":8}`}},
		{"other order of parameters", origin + "/data?_=99&id=7", "site: same-origin; dest: empty", 200, []string{`{"id":7}`, "X-Total: 3", "!Set-Cookie", "!Link:"}},
		{"other names of parameters", origin + "/data?id=7&x=1", "site: same-origin; dest: empty", 404, nil},
		{"range", origin + "/movie", "site: same-origin; dest: video; Range: bytes=2-4", 206, []string{"Content-Range: bytes 2-4/10", "\n234"}},
		{"style sheet", origin + "/style.css", "site: same-origin; dest: style", 200, []string{"url(http://https.b.example" + group + "/i.gif)"}},
		{"origin of the same page", origin + "/app.js", "site: same-site; dest: empty; Origin: http://https.b.example" + group, 200,
			[]string{"Access-Control-Allow-Origin: http://https.b.example" + group}},
		{"origin of another time", origin + "/app.js", "site: same-site; dest: empty; Origin: http://https.b.example.20250101000000.a.localhost:8701", 200,
			[]string{"!Access-Control-Allow-Origin"}},
		{"unknown archive", "http://https.a.example.20240101000000.b.localhost:8701/", "site: same-site; dest: iframe", 404, nil},
		{"unknown host name", "http://https.x-0123456789abcdef0123456789abcdef" + group + "/", "site: same-site; dest: iframe", 404, nil},
		{"port of another server", "http://https.a.example.20240101000000.a.localhost:8702/", "site: same-site", 403, nil},
		{"foreign host", "http://a.example:8701/", "site: same-origin", 403, nil},
		{"address of the server", "http://127.0.0.1:8701/", "site: none", 403, nil},
	} {
		fields := strings.NewReplacer("site:", "Sec-Fetch-Site:", "dest:", "Sec-Fetch-Dest:").Replace(c.fields)
		w := get(s, "GET", c.url, strings.Split(fields, "; ")...)
		var all strings.Builder
		w.Result().Header.Write(&all)
		all.WriteString("\n" + w.Body.String())
		if w.Code != c.status || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: status %d, want %d, with a policy: %s", c.name, w.Code, c.status, all.String())
		}
		for _, text := range c.want {
			text, absent := strings.CutPrefix(text, "!")
			if strings.Contains(all.String(), text) == absent {
				t.Errorf("%s: %q: found = %v in\n%s", c.name, text, !absent, all.String())
			}
		}
	}
}

// TestNames checks that each archived origin has one host name, which names only
// this origin.
func TestNames(t *testing.T) {
	s := newSite(t, testAddress, Archive{"Crawl of 2024.warc.gz", openSamples(t, samples...)})
	long := strings.Repeat("long-label.", 20) + "example"
	seen := map[string]string{}
	for _, url := range []string{
		"http://a.example/", "https://a.example/", "https://a.example:444/", "http://a.example:443/", "http://[2001:db8::1]/", "http://[2001:db8::1]:81/",
		"http://192.0.2.1/", "http://under_score.example/", "http://a.example./", "https://x-0123456789abcdef0123456789abcdef/", "http://" + long + "/", "http://localhost/", "https://xn--e1afmkfd.example/",
	} {
		n := name{archive: s.order[0], time: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)}
		u := uri.MustParse(url)
		got := s.urlOf(n, u)
		host := strings.TrimSuffix(strings.TrimPrefix(got, "http://"), "/")
		if seen[host] != "" || len(host) > 253+len(":8701") {
			t.Errorf("%s: the host name %q is that of %s, or too long", url, host, seen[host])
		}
		seen[host] = url
		bare, _ := splitHost(host)
		back, ok := s.parseName(strings.TrimSuffix(bare, topDomain))
		if n.setOrigin(u); !ok || back != n || back.origin()+"/" != url {
			t.Errorf("%s: %q names %+v, want %+v", url, host, back, n)
		}
	}
	for _, text := range []string{"", "a", "https.20240102030405.crawl-of-2024-warc-gz", "ftp.a.example.20240102030405.crawl-of-2024-warc-gz",
		"https-080.a.example.20240102030405.crawl-of-2024-warc-gz", "https-99999.a.example.20240102030405.crawl-of-2024-warc-gz",
		"https.a.example.20241302030405.crawl-of-2024-warc-gz", "https.a..example.20240102030405.crawl-of-2024-warc-gz", "https.a%2f.20240102030405.crawl-of-2024-warc-gz"} {
		if n, ok := s.parseName(text); ok {
			t.Errorf("%q names %+v", text, n)
		}
	}
}
