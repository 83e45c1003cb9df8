package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/warctest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// image is a GIF with one pixel.
const image = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// message is an article with an attachment.
const message = "From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r\nSubject: <script>alert(1)</script>\r\nMessage-ID: <2@example.org>\r\n" +
	"References: <1@example.org>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\ncaf\xe9 <b>\r\n" +
	"--b\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename=\"../../evil\\\"<x>.zip\"\r\n" +
	"Content-Transfer-Encoding: base64\r\n\r\nUEsF\r\n--b--\r\n"

// A sample is a record of the sample archive.
type sample struct{ date, url, media, body string }

// samples are the captured objects of schemes other than HTTP.
var samples = []sample{
	{"20240101", "gopher://g.example/1/", "application/gopher-menu",
		"iWelcome <b>\t\tnull\t1\r\n0About\t/about.txt\tg.example\t70\r\n1Evil\"><script>x\t/\"><script>\tg.example\t70\r\n" +
			"hLive\tURL:http://a.example/\tg.example\t70\r\n8Login\t\tg.example\t23\r\n.\r\n"},
	{"20240101", "gopher://g.example/0/about.txt", "text/plain", "caf\xe9 <script>\x00\r\n"},
	{"20240101", "ftp://f.example/pub/", "text/x-ftp-list; dialect=unix; at=20240101000000",
		"-rw-r--r--   1 ftp      ftp           531 Jan 29  2023 README\r\ndrwxr-xr-x   2 ftp      ftp          4096 Jan 29  2023 <img src=x>\r\n"},
	{"20240101", "ftp://f.example/pub/file.zip", "application/zip", "PK\x05\x06"},
	{"20240101", "news://n.example/2@example.org", "message/rfc822", message},
	{"20240101", "nntp://n.example/comp.test", `text/x-nntp-overview; fields="subject,from,date,message-id,references"`,
		"1\tMoon\tA <a@h>\t01 Jan 2024 00:00:00 +0000\t<1@example.org>\t\r\n2\tRe: Moon\tB <b@h>\t\t<2@example.org>\t<1@example.org>\r\n"},
	{"20240101", "gopher://g.example/I/pixel.gif", "image/gif", image},
	{"20240101", "gopher://g.example/9/untyped", "", "plain words\n"},
}

// httpSamples are HTTP responses.
var httpSamples = []sample{
	{"20240101", "http://a.example/", "", ok("text/html", `<!DOCTYPE html><html><head><title>One</title><link rel=stylesheet href=style.css></head>`+
		`<body class=x><p>first</p><img src="/pixel.gif"><a href="/two?q=1#part">two</a><a href="mailto:x@example.org">mail</a></body></html>`)},
	{"20250101", "http://a.example/", "", ok("text/html", "<!DOCTYPE html><title>Two</title><body><p>second")},
	{"20260101", "http://a.example/", "", ok("text/html", "<frameset cols=*><frame src=a.html></frameset>")},
	{"20240101", "http://a.example/style.css", "", ok("text/css", "@import url(more.css);p{color:#010203;background:url(/pixel.gif)}")},
	{"20240101", "http://a.example/more.css", "", ok("text/css", "img{width:7px}")},
	{"20240101", "http://a.example/pixel.gif", "", ok("image/gif", image)},
	{"20240101", "http://a.example/two?q=1", "", ok("text/html; charset=utf-8\r\nSet-Cookie: a=b\r\nRefresh: 0; url=http://evil.example/\r\n"+
		"Access-Control-Allow-Origin: *\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "<h1>query</h1>")},
	{"20240101", "http://a.example/moved", "", "HTTP/1.1 301 Moved\r\nLocation: /two?q=1\r\nContent-Length: 0\r\n\r\n"},
	{"20240101", "http://a.example/away", "", "HTTP/1.1 302 Moved\r\nLocation: //evil.example/x\r\nContent-Length: 0\r\n\r\n"},
	{"20240101", "http://a.example/missing", "", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\ngone"},
	{"20240101", "http://a.example/zipped", "", ok("text/plain\r\nContent-Encoding: gzip", zipped("unzipped"))},
	{"20240101", "http://a.example//double//slash", "", ok("text/plain", "double")},
	{"20240101", "http://a.example/utf16", "", ok("text/html", "\xff\xfe"+wide(`<p><img src="/pixel.gif">`))},
	{"20240101", "http://a.example/hints", "", ok("text/html", `<link rel=preconnect href="http://evil.example"><link href="//evil.example" rel="x DNS-prefetch">`)},
	{"20240101", "http://a.example/app.js", "", ok("text/javascript", "var a = '<p>'")},
	{"20240101", "http://a.example/picture.svg", "", ok("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>")},
}

func ok(media, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", media, len(body), body)
}

// wide encodes ASCII text in UTF-16LE.
func wide(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.Write([]byte{c, 0})
	}
	return b.String()
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func date(t testing.TB, text string) time.Time {
	t.Helper()
	d, err := time.Parse("20060102", text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// openSample writes the sample archive, adds the records in more, and opens it.
func openSample(t testing.TB, more ...sample) *warc.Archive {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "sample.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	write := func(r *warc.Record) {
		if _, err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range samples {
		c := warc.Capture{URL: uri.MustParse(s.url), Date: date(t, s.date)}
		write(c.Resource(s.media, strings.NewReader(s.body)))
	}
	for _, s := range append(httpSamples, more...) {
		c := warc.Capture{URL: uri.MustParse(s.url), Date: date(t, s.date)}
		r := c.Response(strings.NewReader(s.body))
		if s.media != "" {
			r = c.Resource(s.media, strings.NewReader(s.body))
		}
		if strings.HasSuffix(s.url, "/broken") {
			r.Truncated = warc.TruncatedByDisconnect
		}
		write(r)
	}
	again := warc.Capture{URL: uri.MustParse("http://a.example/pixel.gif"), Date: date(t, "20250601")}
	first := warc.Reference{URL: again.URL, Date: date(t, "20240101")}
	write(again.Revisit(first, digestOf(t, dir, first), strings.NewReader("HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n\r\n")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := warc.Open(filepath.Join(dir, "sample.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// openRecords opens an archive that contains only HTTP responses.
func openRecords(t testing.TB, opts warc.Options, samples ...sample) *warc.Archive {
	t.Helper()
	return warctest.Open(t, opts, func(w *warc.Writer) {
		for _, s := range samples {
			c := warc.Capture{URL: uri.MustParse(s.url), Date: date(t, s.date)}
			if _, err := w.Write(c.Response(strings.NewReader(s.body))); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// digestOf returns the payload digest of a record in the unfinished file in dir.
func digestOf(t testing.TB, dir string, of warc.Reference) string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for e := range warc.Entries(f) {
			if e.URL == of.URL && e.Time.Equal(of.Date) {
				return e.Extra["digest"]
			}
		}
	}
	t.Fatal("the original record is missing")
	return ""
}

// testAddress is the address of the handlers in tests.
var testAddress = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8700}

// newHandler returns a Handler for the sample archive at localhost:8700.
func newHandler(t testing.TB, change func(*Options)) *Handler {
	t.Helper()
	opts := Options{
		Address: testAddress, Schemes: schemes.All(schemes.Options{}),
		Archives: []Archive{{Name: "sample.warc.gz", Source: openSample(t), Seeds: []string{"gopher://g.example/1/"}}},
	}
	if change != nil {
		change(&opts)
	}
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get sends a request to a Handler. The lines in fields are header fields.
func get(h http.Handler, method, target string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.RequestURI, r.Host = target, "localhost:8700"
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// partKey matches the token in links to parts of archived pages.
var partKey = regexp.MustCompile(`;key=[A-Za-z0-9_-]{22}`)

// checkResponse checks the status of a response and the texts in its header and
// body. A text that starts with "!" must be absent.
func checkResponse(t *testing.T, w *httptest.ResponseRecorder, status int, want []string) {
	t.Helper()
	var all strings.Builder
	w.Result().Header.Write(&all)
	all.WriteString("\n" + partKey.ReplaceAllString(w.Body.String(), ""))
	if w.Code != status {
		t.Errorf("status %d, want %d", w.Code, status)
	}
	for _, text := range want {
		text, negated := strings.CutPrefix(text, "!")
		if strings.Contains(all.String(), text) == negated {
			t.Errorf("%q: found = %v in\n%s", text, !negated, all.String())
		}
	}
}

// serve answers the connections of l until the end of the test.
func serve(t *testing.T, h *Handler, l net.Listener) {
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l, time.Minute) }() // requests that run end at once, also if the machine is busy
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
