package links_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

func ExampleExtract() {
	client := fetch.New(fetch.Options{}, fetch.Scheme{Name: "http", Port: 80}, fetch.Scheme{Name: "gopher", Port: 70})
	page := `<link rel=stylesheet href=/style.css><a href="gopher://example.org/1#top">a hole</a>`
	for l, err := range links.Extract(client.Scheme, uri.MustParse("http://example.org/d/"), "text/html", nil, strings.NewReader(page)) {
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
	client := fetch.New(fetch.Options{}, fetch.Scheme{Name: "http", Port: 80})
	page := strings.NewReader(`<A HREF="/a/b.html#c">b</A> <a href=/elsewhere>e</a>`)
	links.Rewrite(os.Stdout, client.Scheme, uri.MustParse("http://example.org/a/"), "text/html", nil, page, func(l links.Link) string {
		if l.URL.Path() == "/a/b.html" {
			return "b.html"
		}
		return ""
	})
	// Output:
	// <A HREF="b.html#c">b</A> <a href=/elsewhere>e</a>
}
