package links

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/uri"
)

// addSeeds adds the files of testdata with the given suffix to the corpus.
func addSeeds(f *testing.F, suffix string) {
	names, err := filepath.Glob("testdata/*" + suffix)
	if err != nil || len(names) == 0 {
		f.Fatal("no documents: ", err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// visitAll walks a body, checks every Link and returns the URLs.
func visitAll(t *testing.T, w *walk, media string, body []byte) (urls []string) {
	t.Helper()
	w.base = uri.MustParse(here)
	w.visit = func(l Link) (string, bool) {
		_, fragment := l.URL.Fragment()
		_, user := l.URL.Userinfo()
		if l.URL.Scheme() == "" || w.isInert(l.URL.Scheme()) || fragment || user {
			t.Errorf("%s is not a valid link", l.URL.Unredacted())
		}
		// Rewrite must encode characters that could end a reference.
		if l.Kind == Form || l.Template {
			return l.URL.Unredacted(), true // only Rewrite finds forms with method POST, and links in templates
		}
		urls = append(urls, strings.NewReplacer("%2C", ",", "%27", "'").Replace(l.URL.Unredacted()))
		return l.URL.Unredacted(), true
	}
	if err := w.visitDocument(w.base, media, nil, bytes.NewReader(body)); err != nil {
		if coding.Detect(body) != "" { // such as the start of valid Brotli data
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return urls
}

// checkRewrite verifies that a copy without replacements is in the normal form
// and does not change when it is copied again, and that a copy with absolute
// references has the same links. In a malformed document of UTF-16 or another
// charset, some characters and links may change, and so may those with the bytes
// that byteFilter replaces.
func checkRewrite(t *testing.T, media string, body []byte, limit int) {
	t.Helper()
	copied := func(body []byte) []byte {
		var out bytes.Buffer
		w := &walk{scheme: schemeNamed, out: &out, base: uri.MustParse(here), tokenLimit: limit, visit: func(Link) (string, bool) { return "", true }}
		if err := w.visitDocument(w.base, media, nil, bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	same := copied(body)
	if formOf(media) == formMarkup && UTF16Of(body, "") == nil {
		checkNormal(t, body, same)
	}
	wide := UTF16Of(body, "") != nil
	if again := copied(same); !wide && !containsFold(body, "<base") && limit == 0 && !bytes.Equal(again, same) {
		t.Errorf("%q became %q and then %q", body, same, again)
	}
	if limit > 0 || wide || bytes.ContainsAny(body, "\x00\x1b") {
		return
	}
	if e, _ := charsetOf(formOf(media), media, body); e != nil || bytes.Contains(body, []byte("<![CDATA[")) || bytes.Contains(body, []byte("<?xml-stylesheet")) {
		return
	}
	before := visitAll(t, &walk{scheme: schemeNamed}, media, body)
	during := visitAll(t, &walk{scheme: schemeNamed, out: io.Discard}, media, body)
	var absolute bytes.Buffer
	visitAll(t, &walk{scheme: schemeNamed, out: &absolute}, media, body)
	after := visitAll(t, &walk{scheme: schemeNamed}, media, absolute.Bytes())
	if strings.Join(before, "\n") != strings.Join(during, "\n") || strings.Join(during, "\n") != strings.Join(after, "\n") {
		t.Errorf("%q leads to\n%q, in writing to\n%q, and as\n%q to\n%q", body, before, during, absolute.Bytes(), after)
	}
}

// serializedTag matches what a browser could read as a tag of an element that
// isSerialized reports, in any state of its parser.
var serializedTag = regexp.MustCompile(`(?i)<[^\s/>]*\b(?:link|meta|base|iframe|script)(?:>|[\s/][^>]*>?)`)

// valueEnd matches a tag that ends after the end of an attribute value.
var valueEnd = regexp.MustCompile(`[^=]"/?>$|=""/?>$`)

// normalTag matches the tags that Rewrite writes for these elements.
var normalTag = regexp.MustCompile(`^<[^\s/>]*( [A-Za-z_:][A-Za-z0-9_:.-]*="[^"<]*")*/?>?$`)

// checkNormal verifies that a browser finds no connection hint in the copy of a
// document, wherever it starts a tag.
func checkNormal(t *testing.T, body, copied []byte) {
	t.Helper()
	for _, tag := range serializedTag.FindAll(copied, -1) {
		if bytes.IndexByte(tag, '"') > 0 && !valueEnd.Match(tag) {
			continue // an attribute value contains ">"
		}
		if tag[1] != '/' && !normalTag.Match(tag) {
			t.Errorf("%q became %q with the tag %q", body, copied, tag)
		}
	}
	for _, scripting := range []bool{false, true} {
		root, err := html.ParseWithOptions(bytes.NewReader(copied), html.ParseOptionEnableScripting(scripting))
		if err != nil {
			return // nested too deeply
		}
		for n := range root.Descendants() {
			if isLiveHint(n) {
				t.Errorf("%q became %q with a hint", body, copied)
			}
		}
	}
}

// isLiveHint reports whether an element is a connection hint with a target.
func isLiveHint(n *html.Node) bool {
	e := element{name: n.Data}
	for _, a := range n.Attr {
		e.attr = append(e.attr, attribute{a.Key, a.Val})
	}
	return n.Type == html.ElementNode && isConnectionHint(&e) && e.get("href") != ""
}

func FuzzHTML(f *testing.F) {
	addSeeds(f, ".html")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, media := range []string{"text/html", "image/svg+xml"} {
			checkRewrite(t, media, body, 0)
			for _, limit := range []int{32, 61} {
				checkRewrite(t, media, body, limit)
				visitAll(t, &walk{scheme: schemeNamed, tokenLimit: limit}, media, body)
			}
		}
	})
}

func FuzzCSS(f *testing.F) {
	addSeeds(f, ".css")
	f.Add([]byte("00\x120")) // the start of valid Brotli data
	f.Fuzz(func(t *testing.T, body []byte) { checkRewrite(t, "text/css", body, 0) })
}

func FuzzSitemap(f *testing.F) {
	addSeeds(f, ".xml")
	f.Fuzz(func(t *testing.T, body []byte) {
		visitAll(t, &walk{scheme: schemeNamed}, "text/xml", body)
		visitAll(t, &walk{scheme: schemeNamed, tokenLimit: 40}, "application/rss+xml", body)
		w := &walk{scheme: schemeNamed, visit: func(Link) (string, bool) { return "", true }}
		w.visitDocument(uri.MustParse("http://h/s.xml.gz"), "application/gzip", nil, bytes.NewReader(body))
	})
}

func FuzzLink(f *testing.F) {
	f.Add(`<a>; rel="next"; type="x/y", </b> ; rel=stylesheet;anchor="#x", <c>`)
	f.Add(`<a>;rel="a\"b";rel=c,,<b`)
	f.Fuzz(func(t *testing.T, value string) {
		w := &walk{scheme: schemeNamed, base: uri.MustParse(here), visit: func(l Link) (string, bool) {
			if l.URL.Scheme() == "" {
				t.Errorf("%s is not a valid link", l.URL.Unredacted())
			}
			return "", true
		}}
		w.visitHeader(fetch.Header{{Name: "Link", Value: value}, {Name: "Refresh", Value: value}, {Name: "X-Robots-Tag", Value: value}})
	})
}
