package links

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/uri"
)

// repeated returns a reader of n copies of text.
func repeated(text string, n int) io.Reader {
	return &repeatReader{text: text, n: n}
}

type repeatReader struct {
	text string
	at   int
	n    int
}

func (a *repeatReader) Read(p []byte) (n int, err error) {
	for n < len(p) && a.n > 0 {
		c := copy(p[n:], a.text[a.at:])
		n += c
		if a.at += c; a.at == len(a.text) {
			a.at, a.n = 0, a.n-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// hugeDocuments returns documents with very large tokens and their expected
// links.
func hugeDocuments(size int) map[string]struct {
	media string
	body  io.Reader
	want  string
} {
	const a, b = "<a href=a>", "<a href=b>"
	both := "page a href http://h/d/a\npage a href http://h/d/b\n"
	n := func(text string) io.Reader { return repeated(text, size/len(text)) }
	join := func(before string, r io.Reader, after string) io.Reader {
		return io.MultiReader(strings.NewReader(before), r, strings.NewReader(after))
	}
	type doc = struct {
		media string
		body  io.Reader
		want  string
	}
	return map[string]doc{
		"text":          {"text/html", join(a, n("x"), b), both},
		"open brackets": {"text/html", join(a, n("< "), ">"+b), both},
		"text of the maximum size before more text": {"text/html", join(a+strings.Repeat("y", maxToken-4), n("x"), b), both},
		"script":                                 {"text/html", join(a+"<script>", n("'<a href=x>'"), "</script>"+b), both},
		"end tag of a script at the token limit": {"text/html", join(a+"<script>"+strings.Repeat("y", maxToken-4), strings.NewReader("</script>"), b), both},
		"style":                                  {"text/html", join(a+"<style>", n("x{y:z}"), "</style>"+b), both},
		"comment":                                {"text/html", join(a+"<!--", n("<a href=x> -- "), "-->"+b), both},
		"end of a comment at the token limit":    {"text/html", join(a+"<!--"+strings.Repeat("y", maxToken-5), strings.NewReader("-->"), b), both},
		"declaration":                            {"text/html", join(a+"<!x ", n("<a href=x "), ">"+b), both},
		"data URL in a tag":                      {"text/html", join(a+"<img alt='>' src=\"data:x,", n("AAAA>"), "\">"+b), both},
		"data URL after another URL":             {"text/html", join("<img src=a srcset='data:x,", n("AAAA>"), "'>"+b), "requisite img src http://h/d/a\npage a href http://h/d/b\n"},
		"attributes":                             {"text/html", join(a+"<p ", n("x y=z "), ">"+b), both},
		"element name":                           {"text/html", join(a+"<p", n("x"), ">"+b), both},
		"plain text":                             {"text/html", join(a+"<plaintext>", n(b), ""), "page a href http://h/d/a\n"},
		"unclosed comment":                       {"text/html", join(a+"<!--", n("-"), ""), "page a href http://h/d/a\n"},
		"CDATA":                                  {"image/svg+xml", join("<a href='a'/><![CDATA[", n("<a href=x>]"), "]]><a href='b'/>"), both},
		"string":                                 {"text/css", join("@import 'a';x{y:\"", n("url(x)"), "\"}z{a:url(b)}"), "requisite css @import http://h/d/a\nrequisite css url http://h/d/b\n"},
		"data URL":                               {"text/css", join("x{a:url(a);b:url(data:x,", n("AA"), ");c:url(b)}"), "requisite css url http://h/d/a\nrequisite css url http://h/d/b\n"},
		"CSS comment":                            {"text/css", join("@import 'a';/*", n("url(x)*"), "*/@import 'b';"), "requisite css @import http://h/d/a\nrequisite css @import http://h/d/b\n"},
		"parentheses":                            {"text/css", join("@import 'a';x{y:", n("("), "}@import 'b';"), "requisite css @import http://h/d/a\nrequisite css @import http://h/d/b\n"},
		"text in a sitemap":                      {"text/xml", join("<urlset><loc>a</loc><x>", n("x"), "</x><loc>b</loc>"), "page loc http://h/d/a\npage loc http://h/d/b\n"},
		"elements":                               {"text/xml", join("<urlset><loc>a</loc>", n("<x>"), "<loc>b</loc>"), "page loc http://h/d/a\npage loc http://h/d/b\n"},
	}
}

// normalForms lists the documents of hugeDocuments that Rewrite changes.
var normalForms = map[string]func(body string) string{
	"script":      inner("<script>", "</script>", "<a", `<\u0061`),
	"comment":     inner("<!--", "-->", "<", "&lt;"),
	"declaration": inner("<!x", "><a href=b", "<", "&lt;"),
	"plain text": func(body string) string {
		return inner("<plaintext>", "", "<", "&lt;", ">", "&gt;", "&", "&amp;")(strings.Replace(body, "<plaintext>", "<pre>\n", 1))
	},
	"CDATA": func(body string) string {
		return strings.NewReplacer("<![CDATA[", "", "]]>", "").Replace(inner("<![CDATA[", "]]>", "<", "&lt;", ">", "&gt;")(body))
	},
}

// inner returns a function that replaces strings between two marks.
func inner(start, end string, replace ...string) func(string) string {
	return func(body string) string {
		head, rest, found := strings.Cut(body, start)
		if !found {
			head, rest, _ = strings.Cut(body, "<pre>\n")
			start = "<pre>\n"
		}
		at := len(rest)
		if end != "" {
			at = strings.LastIndex(rest, end)
		}
		return head + start + strings.NewReplacer(replace...).Replace(rest[:at]) + rest[at:]
	}
}

func TestHugeTokens(t *testing.T) {
	for name, c := range hugeDocuments(3*maxToken + 17) {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 4)
			body, err := io.ReadAll(c.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := extracted(t, here, c.media, nil, bytes.NewReader(body)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			var same bytes.Buffer
			err = Rewrite(&same, schemeNamed, uri.MustParse(here), c.media, nil, bytes.NewReader(body), func(Link) string { return "" })
			want := body
			if normal := normalForms[name]; normal != nil {
				want = []byte(normal(string(body)))
			}
			if err != nil || !bytes.Equal(same.Bytes(), want) {
				t.Errorf("%v, %d bytes became %d, want %d", err, len(body), same.Len(), len(want))
			}
		})
	}
}

// TestConstantMemory verifies that memory use does not depend on the size of a
// document.
func TestConstantMemory(t *testing.T) {
	all := hugeDocuments(8 << 20)
	for _, name := range []string{"text", "script", "comment", "data URL in a tag", "string"} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 4)
			peak := uint64(0)
			watch := &watchedReader{r: all[name].body, see: func() {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}}
			if got := extracted(t, here, all[name].media, nil, watch); got != all[name].want {
				t.Errorf("got\n%s\nwant\n%s", got, all[name].want)
			}
			if peak == 0 || peak > 6<<20 {
				t.Errorf("%d KiB of memory in use", peak>>10)
			}
		})
	}
}

// A watchedReader calls see at intervals.
type watchedReader struct {
	r   io.Reader
	n   int
	see func()
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.n += n; w.n > 2<<20 {
		w.n = 0
		w.see()
	}
	return n, err
}

// TestTruncatedToken splits the end marks of tokens that are longer than the
// limit.
func TestTruncatedToken(t *testing.T) {
	x := strings.Repeat("x", 70)
	for _, c := range []struct{ media, body string }{
		{"text/html", "<a href=a><!--" + x + "-- ->" + x + "--><a href=b>"},
		{"text/html", "<a href=a><script>" + x + "</scrip" + x + "</script><a href=b>"},
		{"text/html", "<a href=a><img alt='" + x + "><a href=x>'><a href=b>"},
		{"text/html", "<a href=a>" + strings.Repeat("<", 200) + "<a href=b>"},
		{"text/html", "<a href=a><title>" + x + "<a href=x></title><a href=b>"},
		{"image/svg+xml", "<a href='a'/><![CDATA[" + x + "]] ]>" + x + "]]><a href='b'/>"},
	} {
		for limit := 40; limit < 60; limit++ {
			var got []string
			w := &walk{scheme: schemeNamed, base: uri.MustParse(here), tokenLimit: limit, visit: func(l Link) (string, bool) {
				got = append(got, l.URL.Path())
				return "", true
			}}
			err := w.visitDocument(w.base, c.media, nil, iotest.OneByteReader(strings.NewReader(c.body)))
			if err != nil || strings.Join(got, " ") != "/d/a /d/b" {
				t.Errorf("tokens of %d bytes: %s\ngot %q, %v", limit, c.body, got, err)
			}
		}
	}
}

// TestLongEscapes covers a short reference with a long escaped form.
func TestLongEscapes(t *testing.T) {
	body := "x{a:url(" + strings.Repeat(`\000061`, 10_000) + ");b:url(b)}"
	var b strings.Builder
	err := Rewrite(&b, schemeNamed, uri.MustParse(here), "text/css", nil, strings.NewReader(body), func(Link) string { return "y" })
	if want := strings.Replace(body, "url(b)", "url(y)", 1); err != nil || b.String() != want {
		t.Errorf("%v, got %d bytes, want %d", err, b.Len(), len(want))
	}
}

// TestSkip reads a mark byte by byte after the start of the mark was read
// before.
func TestSkip(t *testing.T) {
	for _, c := range []struct{ before, text, skipped, rest string }{
		{"", "a--->b", "a--->", "b"},
		{"--", ">b", ">", "b"},
		{"x-", "->b", "->", "b"},
		{"--", "a>b", "a>b", ""},
	} {
		var out strings.Builder
		p := &pushback{r: iotest.OneByteReader(strings.NewReader(c.text))}
		err := p.skip(&walk{scheme: schemeNamed, out: &out}, c.before, "-->", bytes.Clone)
		rest, _ := io.ReadAll(p)
		if out.String() != c.skipped || string(rest) != c.rest || (err == io.EOF) != (c.rest == "") {
			t.Errorf("%q after %q: skipped %q, left %q, %v", c.text, c.before, out.String(), rest, err)
		}
	}
}
