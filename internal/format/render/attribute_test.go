package render

import (
	"html/template"
	"strings"
	"testing"
)

// TestAttribute checks the references in attributes.
func TestAttribute(t *testing.T) {
	page := template.Must(template.New("").Funcs(functions()).Parse(`<a {{attr "href" .}}>x</a>`))
	for text, want := range map[string]string{
		"gopher://g.example/1/a": "gopher://g.example/1/a", "news:a.b": "news:a.b", "/live;via=x/news:a.b": "/live;via=x/news:a.b",
		"wais://w/db?a=1&b": "wais://w/db?a=1&amp;b", `gopher://g/1"><script>`: "gopher://g/1%22%3e%3cscript%3e", "http://h/": "http://h/",
		"javascript:alert(1)": "#ZgotmplZ", "JavaScript:alert(1)": "#ZgotmplZ", "data:text/html,x": "#ZgotmplZ", "vbscript:x": "#ZgotmplZ",
		" javascript:alert(1)": "#ZgotmplZ", "java\tscript:alert(1)": "#ZgotmplZ", "\x01javascript:alert(1)": "#ZgotmplZ", "": "",
		"../1/a.html": "../1/a.html", "/x/ftp://h/report(1)!.pdf": "/x/ftp://h/report(1)!.pdf", "/x/ftp://h/it's": "/x/ftp://h/it&#39;s",
		"/a%28": "/a%28", "/100%": "/100%25", "/%zz": "/%25zz", "/é b": "/%c3%a9%20b",
	} {
		var b strings.Builder
		if err := page.Execute(&b, text); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != `<a href="`+want+`">x</a>` {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
