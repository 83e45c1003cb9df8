package baseuri

import (
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/cputime"
	"github.com/anyurl/fetch/uri"
)

// fields returns a header from lines of the form "Name: value".
func fields(lines ...string) fetch.Header {
	var h fetch.Header
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		h = append(h, fetch.Field{Name: name, Value: value})
	}
	return h
}

func ref(s string) uri.URI {
	if s == "" {
		return uri.URI{}
	}
	return uri.MustParse(s)
}

// TestOrder verifies the precedence of the sources of a base URI.
func TestOrder(t *testing.T) {
	d := Document{
		Media:     "text/html",
		Head:      []byte(`<base href="http://element/">`),
		Header:    fields("Content-Location: http://location/", "Content-Base: http://base/"),
		Enclosing: ref("http://enclosing/"),
		Retrieved: ref("http://retrieved/"),
		Default:   ref("thismessage:/"),
	}
	for _, step := range []struct {
		want   string
		origin Origin
		drop   func()
	}{
		{"http://element/", HTML, func() { d.Head = nil }},
		{"http://base/", ContentBase, func() { d.Header = d.Header.(fetch.Header)[:1] }},
		{"http://location/", ContentLocation, func() { d.Header = nil }},
		{"http://enclosing/", Enclosing, func() { d.Enclosing = uri.URI{} }},
		{"http://retrieved/", Retrieval, func() { d.Retrieved = uri.URI{} }},
		{"thismessage:/", Default, func() { d.Default = uri.URI{} }},
		{"", None, func() {}},
	} {
		if got, origin := Of(d); got.Unredacted() != step.want || origin != step.origin {
			t.Errorf("got %q by %v, want %q by %v", got, origin, step.want, step.origin)
		}
		step.drop()
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		name, retrieved, enclosing, want string
		origin                           Origin
		header                           []string
		http                             bool
	}{
		{name: "example of the 1997 draft", retrieved: "http://h/", header: []string{"Content-Base: http://www.ics.uci.edu/Test/a/b/c"},
			want: "http://www.ics.uci.edu/Test/a/b/c", origin: ContentBase},
		{name: "folded field", header: []string{"content-base: http://h/a\r\n /b\t/c"}, want: "http://h/a/b/c", origin: ContentBase},
		{name: "wrapper of RFC 1808", header: []string{"Content-Base: <URL:http://h/>"}, want: "http://h/", origin: ContentBase},
		{name: "relative Content-Base", retrieved: "http://h/", header: []string{"Content-Base: /a/"}, want: "http://h/", origin: Retrieval},
		{name: "relative Content-Location", retrieved: "http://h/a/b", header: []string{"Content-Location: c/d"}, want: "http://h/a/c/d", origin: ContentLocation},
		{name: "relative to the enclosing entity", retrieved: "http://h/a/b", enclosing: "http://e/x/", header: []string{"Content-Location: c"},
			want: "http://e/x/c", origin: ContentLocation},
		{name: "relative without a context", header: []string{"Content-Location: c"}},
		{name: "Content-Location of a response", retrieved: "http://h/a", header: []string{"Content-Location: http://10.0.0.1/b"}, http: true,
			want: "http://h/a", origin: Retrieval},
		{name: "Content-Base of a response", retrieved: "http://h/a", header: []string{"Content-Base: http://h/b"}, http: true,
			want: "http://h/b", origin: ContentBase},
		{name: "invalid URI", retrieved: "http://h/", header: []string{"Content-Base: http://h:x/", "Content-Location: %"}, want: "http://h/", origin: Retrieval},
		{name: "empty", retrieved: "http://h/", header: []string{"Content-Base:  ", "Content-Location: "}, want: "http://h/", origin: Retrieval},
		{name: "non-ASCII letters", header: []string{"Content-Base: http://müller.de/ü"}, want: "http://xn--mller-kva.de/%C3%BC", origin: ContentBase},
		{name: "userinfo and fragment", header: []string{"Content-Base: http://u:p@h/#f"}, want: "http://h/", origin: ContentBase},
		{name: "userinfo and fragment of the retrieval", retrieved: "http://u:p@h/a#f", want: "http://h/a", origin: Retrieval},
		{name: "file URI in a remote document", retrieved: "http://h/", header: []string{"Content-Base: file:///etc/"}, want: "http://h/", origin: Retrieval},
		{name: "file URI in a remote entity", enclosing: "http://h/", header: []string{"Content-Base: file:///etc/"}, want: "http://h/", origin: Enclosing},
		{name: "file URI in a local file", retrieved: "file:///a/b", header: []string{"Content-Base: file:///c/"}, want: "file:///c/", origin: ContentBase},
		{name: "part of a local file", enclosing: "file:///a.mht", header: []string{"Content-Location: b"}, want: "file:///b", origin: ContentLocation},
		{name: "scheme without a hierarchy", retrieved: "http://h/", header: []string{"Content-Base: javascript:alert(1)"}, want: "http://h/", origin: Retrieval},
		{name: "a relative retrieval", retrieved: "a/b", want: "", origin: None},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, origin := Of(Document{Header: fields(c.header...), HTTP: c.http, Retrieved: ref(c.retrieved), Enclosing: ref(c.enclosing)})
			if got.Unredacted() != c.want || origin != c.origin {
				t.Errorf("got %q by %v, want %q by %v", got.Unredacted(), origin, c.want, c.origin)
			}
		})
	}
	if got, _ := Of(Document{Header: textproto.MIMEHeader{"Content-Base": {"http://h/"}}}); got.Unredacted() != "http://h/" {
		t.Errorf("MIME header: %q", got)
	}
}

func TestHTML(t *testing.T) {
	const retrieved = "http://h/a/b"
	for _, c := range []struct{ name, media, body, want string }{ // want: "" means the URI of the retrieval
		{"example of the 1997 draft", "text/html", "<!doctype html public \"-//IETF//DTD HTML//EN\">\n<HTML><HEAD>\n<TITLE>An example HTML document</TITLE>\n<BASE href=\"http://www.ics.uci.edu/Test/a/b/c\">\n</HEAD><BODY>",
			"http://www.ics.uci.edu/Test/a/b/c"},
		{"media type with parameters, attribute without quotes", "Text/HTML; charset=x", "<base target=x HREF=http://x/>", "http://x/"},
		{"bad parameters", "text/html; =", "<base href=http://x/>", "http://x/"},
		{"XHTML", "application/xhtml+xml", "<base href='http://x/'/>", "http://x/"},
		{"not HTML", "text/plain", "<base href='http://x/'>", ""},
		{"no media", "", "<base href='http://x/'>", ""},
		{"relative", "text/html", "<base href='../c/'>", "http://h/c/"},
		{"another host", "text/html", "<base href='//x/c'>", "http://x/c"},
		{"empty", "text/html", "<base href=''><base href=/x>", ""},
		{"two base elements", "text/html", "<base href=/x><base href=/y>", "http://h/x"},
		{"base element without href before another one", "text/html", "<base target=_top><base href=/y>", "http://h/y"},
		{"base element in the body", "text/html", "<body><p><base href=/x>", "http://h/x"},
		{"base element in a comment, a script and a title", "text/html", "<!-- <base href=/x> --><script>'<base href=/x>'</script><title><base href=/x></title>", ""},
		{"another element", "text/html", "<basefont href=/x></base href=/x>", ""},
		{"entities", "text/html", "<base href='/x?a&amp;b=&#x63;'>", "http://h/x?a&b=c"},
		{"space and line breaks", "text/html", "<base href=' /x\n/y z\t'>", "http://h/x/y%20z"},
		{"non-ASCII letters", "text/html", "<base href='http://müller.de/ü'>", "http://xn--mller-kva.de/%C3%BC"},
		{"invalid URI", "text/html", "<base href='http://h:x/'>", ""},
		{"backslashes", "text/html", `<base href='\\x\y'>`, ""},
		{"zone identifier", "text/html", "<base href='http://[fe80::1%25e]/'>", ""},
		{"data", "text/html", "<base href='data:,x'>", ""},
		{"file", "text/html", "<base href='file:///etc/'>", ""},
		{"userinfo and fragment", "text/html", "<base href='http://u:p@x/#f'>", "http://x/"},
		{"truncated element", "text/html", "<base href='http://x/", ""},
		{"element that ends at the limit", "text/html", strings.Repeat(" ", MaxHead-len("<base href=/x>")) + "<base href=/x>", "http://h/x"},
		{"element that ends after the limit", "text/html", strings.Repeat(" ", MaxHead-len("<base href=/x>")+1) + "<base href=/x>", ""},
		{"long URI truncated by the limit", "text/html", "<base href=http://x/" + strings.Repeat("a", MaxHead) + ">", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, origin := c.want, HTML
			if want == "" {
				want, origin = retrieved, Retrieval
			}
			got, from := Of(Document{Media: c.media, Head: []byte(c.body), Retrieved: ref(retrieved)})
			if got.Unredacted() != want || from != origin {
				t.Errorf("got %q by %v, want %q by %v", got.Unredacted(), from, want, origin)
			}
		})
	}
}

// TestHTMLOverHeader resolves a relative base element against the base in the
// header.
func TestHTMLOverHeader(t *testing.T) {
	d := Document{Media: "text/html", Head: []byte("<base href=x/>"), Header: fields("Content-Base: http://b/a/"), Retrieved: ref("http://r/")}
	if got, origin := Of(d); got.Unredacted() != "http://b/a/x/" || origin != HTML {
		t.Errorf("got %q by %v", got, origin)
	}
}

// TestHostileHTML verifies that hostile documents are parsed quickly.
func TestHostileHTML(t *testing.T) {
	for _, piece := range []string{"<", "<a ", "<base ", "<base a=b ", "<!--", "&", "<base href='&", "<script>", "</script", "<![CDATA[", "\x00", "<base><base>", "a=b "} {
		for _, front := range []string{"", "<base ", "<base href='"} {
			head := []byte(front + strings.Repeat(piece, MaxHead/len(piece)))
			if took := cputime.Of(func() { Of(Document{Media: "text/html", Head: head}) }); took > time.Second {
				t.Errorf("%q, then %q: %v of processor time", front, piece, took)
			}
		}
	}
}

func TestOriginString(t *testing.T) {
	if len(origins) != int(Default)+1 || Origin(99).String() != "unknown" || HTML.String() != "html base" {
		t.Error(origins)
	}
}

// FuzzOf verifies that a base URI has a scheme, but no userinfo and no
// fragment, and that it is not a file URI for a remote document.
func FuzzOf(f *testing.F) {
	f.Add("text/html", "<base href='http://u@x/#'>", "http://b/", "c", "http://e/", "http://r/", false)
	f.Add("text/html", "<base href=file:/etc>", "<URL:file:/x>", "javascript:1", "", "file:///r", true)
	f.Fuzz(func(t *testing.T, media, head, base, location, enclosing, retrieved string, http bool) {
		e, _ := uri.ParseReference(enclosing)
		r, _ := uri.ParseReference(retrieved)
		got, origin := Of(Document{Media: media, Head: []byte(head), HTTP: http, Enclosing: e, Retrieved: r,
			Header: fields("Content-Base: "+base, "Content-Location: "+location)})
		if got.IsZero() != (origin == None) || origin == Default || origin == ContentLocation && http {
			t.Fatalf("%q by %v", got, origin)
		}
		if origin == None {
			return
		}
		_, info := got.Userinfo()
		_, fragment := got.Fragment()
		if got.Scheme() == "" || info || fragment {
			t.Errorf("%q by %v", got.Unredacted(), origin)
		}
		if got.Scheme() == "file" && origin < Enclosing && r.Scheme() != "file" && e.Scheme() != "file" {
			t.Errorf("%q by %v of %q", got.Unredacted(), origin, retrieved)
		}
		if again, err := uri.ParseZone(got.Unredacted()); err != nil || again != got {
			t.Errorf("%q does not parse: %v", got.Unredacted(), err)
		}
	})
}
