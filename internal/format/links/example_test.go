package links_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

func ExampleExtract() {
	page := `<link rel=stylesheet href=/style.css><a href="gopher://example.org/1#top">a hole</a>`
	for l, err := range links.Extract(uri.MustParse("http://example.org/d/"), "text/html", nil, strings.NewReader(page)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Kind, l.URL)
	}
	// Output:
	// requisite http://example.org/style.css
	// page gopher://example.org/1
}

func ExampleRewrite() {
	page := strings.NewReader(`<A HREF="/a/b.html#c">b</A> <a href=/elsewhere>e</a>`)
	links.Rewrite(os.Stdout, uri.MustParse("http://example.org/a/"), "text/html", nil, page, func(l links.Link) string {
		if l.URL.Path() == "/a/b.html" {
			return "b.html"
		}
		return ""
	})
	// Output:
	// <A HREF="b.html#c">b</A> <a href=/elsewhere>e</a>
}
