package gateway

import (
	"context"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestHost checks that only the permitted values of Host are answered.
func TestHost(t *testing.T) {
	h := newHandler(t, func(o *Options) { o.Hosts = []string{"archive.example"} })
	for host, want := range map[string]int{
		"localhost:8700": 200, "127.0.0.1:8700": 200, "[::1]:8700": 200, "LOCALHOST:8700": 200,
		"archive.example": 200, "archive.example:8700": 200, "Archive.Example": 200, "archive.example:80": 200,
		"": 403, "localhost": 403, "localhost:80": 403, "127.0.0.1": 403, "127.0.0.1:8701": 403, "evil.example:8700": 403,
		"localhost.evil.example:8700": 403, "127.0.0.1.evil.example:8700": 403, "localhost:8700@evil.example": 403,
		"localhost:8700.": 403, "::1:8700": 403, "archive.example:8701": 403, "127.1:8700": 403, "0.0.0.0:8700": 403,
	} {
		for _, target := range []string{"/", "/style.css", root + "2024/http://a.example/"} {
			if w := get(h, "GET", target, "Host: "+host); w.Code != want {
				t.Errorf("Host %q, %s: %d, want %d", host, target, w.Code, want)
			}
		}
	}
}

// TestHostWithoutPort checks a public server on port 80, which clients omit from
// Host.
func TestHostWithoutPort(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Address, o.Public, o.Client = &net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, true, generous
	})
	for name, c := range map[string]struct {
		host, arrived string
		want          int
	}{
		"name":                 {"LOCALHOST", "192.0.2.1:80", 200},
		"name and port":        {"localhost:80", "192.0.2.1:80", 200},
		"IPv6":                 {"[::1]", "[::1]:80", 200},
		"empty port":           {"127.0.0.1:", "127.0.0.1:80", 200},
		"address":              {"192.0.2.1", "192.0.2.1:80", 200},
		"IPv6 address":         {"[2001:db8::1]", "[2001:db8::1]:80", 200},
		"another address":      {"192.0.2.2", "192.0.2.1:80", 403},
		"another port":         {"localhost:8080", "127.0.0.1:80", 403},
		"another name":         {"evil.example", "127.0.0.1:80", 403},
		"empty":                {"", "127.0.0.1:80", 403},
		"server on other port": {"192.0.2.1", "192.0.2.1:8700", 403},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = c.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.arrived))))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
}

// TestMethods checks that only GET and HEAD are answered, and that HEAD has no
// other header than GET.
func TestMethods(t *testing.T) {
	h := newHandler(t, nil)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PATCH", "get", "PROPFIND"} {
		if w := get(h, method, "/"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	for _, target := range []string{"/", root + "2024/http://a.example/", root + "2024id_/http://a.example/", root + "2024/gopher://g.example/1/"} {
		a, b := get(h, "GET", target), get(h, "HEAD", target)
		if a.Code != b.Code || a.Header().Get("Content-Type") != b.Header().Get("Content-Type") || a.Header().Get("Link") != b.Header().Get("Link") {
			t.Errorf("%s: GET %v, HEAD %v", target, a.Header(), b.Header())
		}
	}
}

// TestContentHeader checks the policy of archived content, and which fields of
// an archived header are sent.
func TestContentHeader(t *testing.T) {
	h := newHandler(t, nil)
	for _, target := range []string{
		"2024/http://a.example/two?q=1", "2024id_/http://a.example/two?q=1", "2024mp_/http://a.example/two?q=1",
		"2024id_/http://a.example/picture.svg", "2024mp_/http://a.example/picture.svg", "2024mp_/http://a.example/style.css",
		"2024/ftp://f.example/pub/file.zip", "2024id_;part=2/news://n.example/2@example.org", "2024/http://a.example/missing",
	} {
		w := get(h, "GET", root+target)
		policy := "; " + w.Header().Get("Content-Security-Policy") + ";"
		if !strings.Contains(policy, "; sandbox ") || strings.Contains(policy, "allow-same-origin") ||
			strings.Contains(policy, "allow-top-navigation") || !strings.Contains(policy, "default-src 'self' 'unsafe-inline' data: blob:;") ||
			strings.Contains(policy, "allow-scripts") || !strings.Contains(policy, "script-src 'none';") {
			t.Errorf("%s: %s", target, policy)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", target, w.Header())
		}
		for _, name := range []string{"Set-Cookie", "Refresh", "Access-Control-Allow-Origin"} {
			if w.Header().Get(name) != "" {
				t.Errorf("%s: the response has the archived field %s", target, name)
			}
		}
	}
	if got := get(h, "GET", root+"2024/http://a.example/two?q=1").Header().Get("Last-Modified"); got != "Mon, 01 Jan 2024 00:00:00 GMT" {
		t.Errorf("Last-Modified: %s", got)
	}
}

// TestInterfaceHeader checks the policy of pages of the interface. Pages with
// text of an archive and error pages are included.
func TestInterfaceHeader(t *testing.T) {
	h := newHandler(t, nil)
	for _, target := range []string{
		"/", root, root + "?prefix=gopher", root + "*/http://a.example/", "/nothing", root + "2024/http://b.example/",
		root + "2024/gopher://g.example/1/", root + "2024/gopher://g.example/0/about.txt", root + "2024/news://n.example/2@example.org",
		root + "2024mp_/gopher://g.example/1/", root + "2024/gopher://g.example/I/pixel.gif",
	} {
		header := get(h, "GET", target).Header()
		if header.Get("Content-Security-Policy") != pagePolicy || header.Get("X-Frame-Options") != "DENY" ||
			header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", target, header)
		}
	}
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(pagePolicy, want) {
			t.Errorf("the policy of pages lacks %s", want)
		}
	}
}

// TestHostileText checks that text of archives, requests and configurations is
// escaped on every page.
func TestHostileText(t *testing.T) {
	const evil = `"><script>alert(1)</script>\x1b[31m` + "\u202e"
	h := newHandler(t, func(o *Options) {
		o.Archives[0].Name = evil
		o.Archives[0].Source = openSample(t, sample{"20240101", "http://a.example/evil", "", ok(`<script>/"><script>`, "x")},
			sample{"20240101", "http://a.example/evil2", "", "HTTP/1.1 302 Moved\r\nLocation: javascript:alert(1)\r\nContent-Length: 0\r\n\r\n"})
		o.Archives[0].Report = []byte(`{"result":"<script>"}`)
	})
	base := h.archives[0].path
	if strings.ContainsAny(base, `"<> `) {
		t.Errorf("path %q", base)
	}
	for _, target := range []string{
		"/", base, base + "?prefix=%22%3E%3Cscript%3E%1b%e2%80%ae", base + "?prefix=http", base + "*/gopher://g.example/1/",
		base + "2024/gopher://g.example/1/", base + "2024/gopher://g.example/0/about.txt", base + "2024/ftp://f.example/pub/",
		base + "2024/news://n.example/2@example.org", base + `2024/http://x/"><script>`, base + "2024/http://x/%3Cscript%3E", `/<script>`,
		base + "*/http://a.example/evil", base + "2024/http://a.example/app.js", "/archive/%3Cscript%3E/",
	} {
		w := get(h, "GET", target)
		body := strings.ToLower(w.Body.String())
		for _, bad := range []string{"<script", "<img src=x", "\x1b", "\u202e"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: the page contains %q:\n%s", target, bad, w.Body)
			}
		}
		if !strings.Contains(body, "</html>") {
			t.Errorf("%s: %d, incomplete page:\n%s", target, w.Code, html.EscapeString(body))
		}
	}
	w := get(h, "GET", base+"2024/http://a.example/evil2")
	if location := w.Header().Get("Location"); location != "" && !strings.HasPrefix(location, base) {
		t.Errorf("redirect to %s", location)
	}
}

// TestTargets sends request targets that try to leave the routes. No response
// is a success or a redirect to another place.
func TestTargets(t *testing.T) {
	h := newHandler(t, func(o *Options) { o.Base = "/web" })
	base := "/web" + root
	for _, target := range []string{
		"", "*", "//evil.example/", "//evil.example/web/", "/", "/archive/sample.warc.gz/", "/webx/", "/web//", "/web//evil.example",
		"/web/../archive/", "/web/archive/..", "/web/archive/../", "/web/archive/./", "/web/archive//", "/web/archive/%2e%2e/",
		"/web/archive/%2e%2e%2f%2e%2e%2fetc/", "/web/archive/sample.warc.gz%2f/", "/web/archive/sample.warc.gz%00/", "/web/archive/%zz/",
		"/web/archive/..%5csample.warc.gz/", base + "/", base + "../../../etc/passwd", base + "2024/", base + "2024", base + "*", base + "*/",
		base + "timegate", base + "timegate/", base + "timemap", base + "timemap/", base + "timemap/link", base + "timemap/json/http://a.example/",
		base + "2024/http:%2F%2Fa.example/", base + "2024/http%3A//a.example/", base + "2024/file:///etc/passwd", base + "2024/%2e%2e/style.css",
		base + "2024/http://a.example/%0d%0aSet-Cookie:x", base + "2024/http://a.example/ x", base + "2024/javascript:alert(1)",
		base + "2024/data:text/html,x", base + "2024xx_/http://a.example/", base + "2024id_;part=../http://a.example/",
		base + "2024id_;part=1" + strings.Repeat(".1", 30) + "/http://a.example/", base + "-2024/http://a.example/", base + "20240230/http://a.example/",
		base + "2024%30101/http://a.example/", base + "２０２４/http://a.example/",
	} {
		w := get(h, "GET", target)
		if w.Code < 400 || w.Code > 414 {
			t.Errorf("%q: %d %v", target, w.Code, w.Header())
		}
	}
	if w := get(h, "GET", "/web"); w.Code != 302 || w.Header().Get("Location") != "/web/" {
		t.Errorf("/web: %d %v", w.Code, w.Header())
	}
	for _, target := range []string{"/web/", base, base + "2024/http://a.example/", base + "2024/gopher://g.example/1/"} {
		w := get(h, "GET", target)
		if body := w.Body.String(); w.Code != 200 || strings.Contains(body, `="/archive`) || strings.Contains(body, `"/style.css`) {
			t.Errorf("%s: %d, links without the prefix: %s", target, w.Code, body)
		}
	}
	if w := get(h, "GET", base+"2024/http://a.example/"+strings.Repeat("x", 20<<10)); w.Code != http.StatusRequestURITooLong {
		t.Errorf("long URL: %d", w.Code)
	}
}

// TestOptions checks the names of archives and invalid options.
func TestOptions(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		a := o.Archives[0]
		o.Archives = nil
		for _, name := range []string{"a", "a", "a-2", "a", "..", "x/y"} {
			a.Name = name
			o.Archives = append(o.Archives, a)
		}
	})
	var got []string
	for _, a := range h.archives {
		got = append(got, a.path)
	}
	if want := "/archive/a/ /archive/a-2/ /archive/a-2-2/ /archive/a-3/ /archive/archive/ /archive/x%2Fy/"; strings.Join(got, " ") != want {
		t.Errorf("paths %s, want %s", got, want)
	}
	for _, base := range []string{"x", "//evil.example", "/a//b", "/a b", "/..", "/a/../b", "/a?b", `/"`} {
		if _, err := New(Options{Address: testAddress, Base: base}); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("base %q: %v", base, err)
		}
	}
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.org:0", "169.254.169.254:0"} {
		if l, err := Listen(address); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("listen on %s: %v, %v", address, l, err)
		}
	}
	if _, err := Listen("8700"); fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("no port: %v", err)
	}
}

// TestForeignParts requests captures as browsers do for pages of other sites and
// for archived pages, which have an origin of their own.
func TestForeignParts(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Archives = append(o.Archives, Archive{Name: "other", Source: openSample(t)})
	})
	key := partKey.FindString(get(h, "GET", root+"2024/http://a.example/").Body.String())
	other := partKey.FindString(get(h, "GET", "/archive/other/2024/http://a.example/").Body.String())
	if key == "" || other == "" {
		t.Fatal("an archived page has no token")
	}
	for name, c := range map[string]struct {
		form   string
		fields []string
		status int
	}{
		"script of another site":           {"mp_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 403},
		"bytes of a script":                {"id_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 403},
		"page as a script":                 {"", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 403},
		"script of another port":           {"mp_" + key, []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: script"}, 200},
		"script of another port, no token": {"mp_", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: script"}, 403},
		"image":                            {"mp_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"}, 403},
		"fetch":                            {"mp_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty"}, 403},
		"fetch with Origin":                {"mp_", []string{"Origin: http://evil.example", "Sec-Fetch-Dest: empty"}, 403},
		"worker":                           {"mp_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: serviceworker"}, 403},
		"wrong token":                      {"mp_;key=x", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 403},
		"page of another archive":          {"mp_" + other, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 403},
		"archived page":                    {"mp_" + key, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: script"}, 200},
		"page of the interface":            {"mp_", []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: image"}, 200},
		"link of another site":             {"", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document"}, 200},
		"frame":                            {"", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"}, 200},
		"object":                           {"mp_", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: object"}, 403},
		"embed":                            {"id_", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: embed"}, 403},
		"object of an archived page":       {"mp_" + key, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: object"}, 200},
		"program":                          {"id_", nil, 200},
		"browser without Sec-Fetch fields": {"mp_", nil, 200},
	} {
		w := get(h, "GET", root+"2024"+c.form+"/http://a.example/app.js", c.fields...)
		if w.Code != c.status {
			t.Errorf("%s: %d, want %d", name, w.Code, c.status)
		}
		want := "same-origin" // browsers then refuse the object to scripts and images of other sites
		if strings.HasSuffix(c.form, key) {
			want = ""
		}
		if got := w.Header().Get("Cross-Origin-Resource-Policy"); c.status == 200 && got != want {
			t.Errorf("%s: Cross-Origin-Resource-Policy %q, want %q", name, got, want)
		}
	}
}

// TestForeignSearch checks that a page of another site can start no search and no
// comparison, because their durations show what the archive contains.
func TestForeignSearch(t *testing.T) {
	foreign := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: http://evil.example"}
	own := []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Accept: text/html"}
	public := func(o *Options) { o.Public = true }
	for _, target := range []string{"?prefix=gopher:", "?words=menu", "?prefix=http:&words=a", "?text=secret", "20200101000000-20210101000000/http://h.example/"} {
		for _, c := range []struct {
			change  func(*Options)
			fields  []string
			refused bool
		}{{nil, foreign, true}, {nil, own, false}, {public, foreign, false}} {
			for _, field := range c.fields {
				h := newHandler(t, c.change)
				w := get(h, "GET", "/archive/sample.warc.gz/"+target, field)
				if refused := strings.Contains(w.Body.String(), "Requests of other sites are refused"); refused != c.refused || refused != (w.Code == http.StatusForbidden) {
					t.Errorf("%s, %s: status %d, refused = %v", target, field, w.Code, refused)
				}
			}
		}
	}
}
