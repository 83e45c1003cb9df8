package htmltext

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func TestTitle(t *testing.T) {
	for name, tc := range map[string]struct{ page, media, want string }{
		"title with references":                {"<title>A &lt;b&gt;\n\t &amp;c</title>", "text/html", "A <b> &c"},
		"title after a script":                 {"<script>'<title>x</title>'</script><title>y</title>", "text/html", "y"},
		"title in a comment":                   {"<!-- <title>x</title> --><p>y", "text/html", ""},
		"title of an image in the body":        {"<body><svg><title>x</title></svg>", "text/html", ""},
		"image without a body element":         {"<svg><title>x</title></svg>", "text/html", ""},
		"empty title":                          {"<title></title><title>x</title>", "text/html", ""},
		"truncated title":                      {"<title>half", "text/html", "half"},
		"title beyond the limit":               {strings.Repeat(" ", MaxTitleOffset) + "<title>x</title>", "text/html", ""},
		"UTF-8 with another encoding declared": {"<title>caf\u00e9</title>", "text/html; charset=koi8-r", "caf\u00e9"},
		"windows-1252 without a declaration":   {"<title>caf\xe9 \x80</title>", "text/html", "caf\u00e9 \u20ac"},
		"ISO 8859-1 in the header": {
			"<meta charset=koi8-r><title>\xe9</title>", "text/html; charset=ISO-8859-1", "\u00e9"},
		"unsupported encoding in the header": {"<title>\xe9</title>", "text/html; charset=koi8-r", ""},
		"unsupported encoding in meta":       {"<meta charset=koi8-r><title>\xe9</title>", "text/html", ""},
		"unsupported encoding in http-equiv": {
			`<meta http-equiv=Content-Type content="text/html; charset=koi8-r"><title>` + "\xe9</title>", "text/html", ""},
	} {
		if got := Title([]byte(tc.page), tc.media); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// FuzzTitle checks that a title is one line of valid text.
func FuzzTitle(f *testing.F) {
	f.Add([]byte("<meta charset=latin1><title>A &amp;\n\xe9</title>"), "text/html")
	f.Fuzz(func(t *testing.T, page []byte, media string) {
		if got := Title(page, media); strings.ContainsAny(got, "\n\t") || strings.TrimSpace(got) != got {
			t.Fatalf("%q", got)
		}
	})
}

// FuzzTreeTitle compares the title with that in the tree of package html, which
// knows the rules of browsers for elements in wrong places. Pages are compared if
// the first title element is a child of the head.
func FuzzTreeTitle(f *testing.F) {
	for _, page := range []string{
		"<title>A &amp; b</title>", "<html><head><meta charset=utf-8><title>x</title></head><body><title>y</title>",
		"<script><title>x</title></script><title>y</title>", "<!--<title>x</title>--><title>y<b></title>", "<title>x</titl",
		"<noscript><title>x</title></noscript><title>y</title>", "<style></style><title/>x</title>",
	} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if !utf8.ValidString(page) || strings.ContainsAny(page, "\x00\r") || len(page) > MaxTitleOffset {
			return
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return // nested too deeply
		}
		want, found := "", false
		for n := range root.Descendants() {
			if n.Type != html.ElementNode || n.DataAtom != atom.Title || found {
				continue
			}
			if n.Parent.DataAtom != atom.Head {
				return
			}
			if found = true; n.FirstChild != nil {
				want = strings.Join(strings.Fields(n.FirstChild.Data), " ")
			}
		}
		if got := Title([]byte(page), "text/html; charset=utf-8"); found && got != want {
			t.Errorf("%q: %q, according to the tree %q", page, got, want)
		}
	})
}
