package htmltext

import (
	"strings"
	"testing"
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
