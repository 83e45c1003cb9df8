package links

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func TestFiles(t *testing.T) {
	for _, c := range []struct{ file, media, want string }{
		{"page.html", "text/html", `
requisite html manifest http://h/other/offline.appcache
requisite link href http://h/other/style.css?v=1&w=2
feed link href http://h/other/feed.xml
requisite style @import http://h/other/print.css
requisite style url http://h/other/paper.png
requisite body background http://h/other/bg.gif
requisite body style url http://h/other/dot.gif
page a href http://h/other/unquoted/page.html
page a href http://h/other/two
requisite source srcset http://h/other/a.avif
requisite source srcset http://h/other/b.avif
requisite img src http://h/other/c.png
requisite img srcset http://h/other/c2.png
requisite img src http://h/other/pixel.gif
requisite use xlink:href http://h/other/icons.svg
`},
		{"sheet.css", "text/css", `
requisite css @import http://h/d/base.css
requisite css url http://h/d/a.png
requisite css url http://h/d/b.png
requisite css url http://h/d/c.png
requisite css url http://h/d/d.png
requisite css url http://h/d/x.woff2
requisite css url http://h/d/e.cur
requisite css url http://h/d/f)g.png
requisite css url http://h/d/h.svg
`},
		{"sitemap.xml", "application/xml", `
page loc http://h/a?b&c
page xhtml:link http://h/de/a
requisite image:loc http://h/a.png
page loc http://h/d
`},
		{"index.xml", "text/xml", `
sitemap s:loc http://h/1.xml.gz
sitemap loc http://h/d/2.xml
`},
		{"rss.xml", "application/rss+xml", `
requisite xml-stylesheet http://h/d/rss.xsl
page link http://h/
feed atom:link http://h/d/p?page=2
requisite url http://h/d/logo.png
page link http://h/
page link http://h/1?a&b
page comments http://h/1
page enclosure http://h/1.mp3
page guid http://h/2
requisite media:thumbnail http://h/d/t.png
`},
		{"atom.xml", "application/atom+xml", `
page link http://h/
requisite logo http://h/d/l.png
page link http://h/d/1
page link http://h/d/1.mp3
feed link http://h/d/1/c
page content http://h/d/1.png
`},
	} {
		body, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimPrefix(c.want, "\n")
		if got := extracted(t, here, c.media, nil, bytes.NewReader(body)); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", c.file, got, want)
		}
		if got := extracted(t, here, c.media, nil, iotest.OneByteReader(bytes.NewReader(body))); got != want {
			t.Errorf("%s, byte by byte\ngot\n%s", c.file, got)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct{ name, field, value, want string }{
		{"several links", "Link", `<a>; rel=next, </b>;rel="stylesheet x" ; y=z,<c>`, "page Link next http://h/d/a\nrequisite Link stylesheet x http://h/b\npage Link  http://h/d/c\n"},
		{"comma and semicolon in the URL", "Link", `<a,b;c>; title="x, <d>; y"; rel=up`, "page Link up http://h/d/a,b;c\n"},
		{"feed", "Link", `<a>; type="application/rss+xml"; rel=alternate`, "feed Link alternate http://h/d/a\n"},
		{"two rel parameters", "Link", `<a>; rel=next; rel=stylesheet`, "page Link next http://h/d/a\n"},
		{"link with an anchor", "Link", `<a>; anchor="#x"; rel=next`, ""},
		{"preconnect", "Link", `<//x>; rel=preconnect`, ""},
		{"unclosed quotation", "Link", `<a>; rel="next`, "page Link next http://h/d/a\n"},
		{"malformed link", "Link", `a; rel=next, <b>`, ""},
		{"nofollow", "Link", `<a>; rel="next nofollow"`, "page Link next nofollow http://h/d/a nofollow\n"},
		{"refresh", "Refresh", `5; url=a`, "page Refresh http://h/d/a\n"},
		{"refresh in quotes", "Refresh", `0;url="a b"`, "page Refresh http://h/d/a%20b\n"},
		{"robots", "X-Robots-Tag", "noindex, nofollow", ""},
	} {
		if got := extracted(t, here, "image/png", fetch.Header{{Name: c.field, Value: c.value}}, nil); got != c.want {
			t.Errorf("%s: %s\ngot\n%s\nwant\n%s", c.name, c.value, got, c.want)
		}
	}
	robots := fetch.Header{{Name: "x-robots-tag", Value: "none"}}
	if got := extracted(t, here, "text/html", robots, strings.NewReader("<a href=a>")); got != "page a href http://h/d/a nofollow\n" {
		t.Errorf("got %s", got)
	}
}

func compressed(t *testing.T, body io.Reader) io.Reader {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name = strings.Repeat("n", 1000) // longer than compress/gzip accepts
	if _, err := io.Copy(z, body); err != nil {
		t.Fatal(err)
	}
	z.Close()
	return &b
}

func TestGzip(t *testing.T) {
	const media = "application/gzip"
	body, _ := os.ReadFile("testdata/index.xml")
	const want = "sitemap s:loc http://h/1.xml.gz\nsitemap loc http://h/2.xml\n"
	if got := extracted(t, "http://h/s.xml.gz", media, nil, compressed(t, bytes.NewReader(body))); got != want {
		t.Errorf("got %s", got)
	}
	if got := extracted(t, "http://h/s.tar.gz", media, nil, strings.NewReader("no gzip")); got != "" {
		t.Errorf("not a sitemap: %s", got)
	}
	if got := extracted(t, "http://h/s.xml.gz", media, nil, strings.NewReader("no gzip")); !strings.HasPrefix(got, "error: ") {
		t.Errorf("invalid gzip: %s", got)
	}
	for name, body := range map[string]string{"http://h/p": "<a href=x>", "http://h/s.css": "@import 'x';"} {
		media := map[bool]string{true: "text/css", false: "text/html"}[strings.HasSuffix(name, ".css")]
		got := extracted(t, name, media, nil, compressed(t, strings.NewReader(body)))
		if want := extracted(t, name, media, nil, strings.NewReader(body)); got != want || got == "" {
			t.Errorf("%s: compressed: got %q, want %q", name, got, want)
		}
		if got := extracted(t, name, media, nil, strings.NewReader("\x1f\x8b\x08 is no gzip")); !strings.HasPrefix(got, "error: ") {
			t.Errorf("invalid gzip: %s", got)
		}
	}
	w := &walk{scheme: schemeNamed, inflateLimit: 1 << 20, visit: func(Link) (string, bool) { return "", true }}
	bomb := compressed(t, io.MultiReader(strings.NewReader("<urlset><loc>"), repeated("\x00", 2<<20)))
	if err := w.visitDocument(uri.MustParse("http://h/s.xml.gz"), media, nil, bomb); !errors.Is(err, fetch.TooLarge) {
		t.Errorf("sitemap that expands too much: got %v", err)
	}
	bomb = compressed(t, repeated("\x00", 2<<20))
	if err := w.visitDocument(uri.MustParse("http://h/p"), "text/html", nil, bomb); !errors.Is(err, fetch.TooLarge) {
		t.Errorf("page that expands too much: got %v", err)
	}
}

// TestTypes verifies that the format of XML depends on its root element and
// that other types are ignored.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ media, body, want string }{
		{"text/xml", `<html xmlns="x"><a href="a"/></html>`, "page a href http://h/d/a\n"},
		{"application/xml", `<?xml-stylesheet href="s.xsl"?><x><y/></x>`, "requisite xml-stylesheet http://h/d/s.xsl\n"},
		{"application/xhtml+xml", `<a href="a"/>`, "page a href http://h/d/a\n"},
		{"image/svg+xml", `<svg><style><![CDATA[@import "a";]]></style><title><image href="b"/></title></svg>`, "requisite style @import http://h/d/a\nrequisite image href http://h/d/b\n"},
		{"text/plain", `<a href="a">`, ""},
		{"", `<a href="a">`, ""},
		{"application/json", `<a href="a">`, ""},
		{"text/html; =", `<a href="a">`, "page a href http://h/d/a\n"},
	} {
		if got := extracted(t, here, c.media, nil, strings.NewReader(c.body)); got != c.want {
			t.Errorf("%s %s\ngot\n%s\nwant\n%s", c.media, c.body, got, c.want)
		}
		if CanExtract(c.media) != (c.want != "") {
			t.Errorf("CanExtract(%q) = %t", c.media, CanExtract(c.media))
		}
	}
}

func TestStopIteration(t *testing.T) {
	n := 0
	for l, err := range Extract(schemeNamed, uri.MustParse(here), "text/html", fetch.Header{{Name: "Link", Value: "<a>, <b>"}}, iotest.ErrReader(errors.New("read on"))) {
		if err != nil || l.URL.Path() != "/d/a" {
			t.Errorf("got %v, %v", l, err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d links", n)
	}
	body := io.MultiReader(strings.NewReader("<a href=a><a href=b>"), iotest.ErrReader(errors.New("cut off")))
	if got := extracted(t, here, "text/html", nil, body); got != "page a href http://h/d/a\npage a href http://h/d/b\nerror: cut off\n" {
		t.Errorf("got %s", got)
	}
}
