package links_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/links"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

func ExampleLinks() {
	page := strings.NewReader(`<link rel=stylesheet href=/style.css> <a href="next.html#top">next</a>`)
	for l, err := range links.Links("text/html", uri.MustParse("http://example.org/d/"), page) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(l.Kind, l.URL)
	}
	// Output:
	// requisite http://example.org/style.css
	// page http://example.org/d/next.html
}

// This example retrieves a page and the documents to which it links.
func ExampleInResponse() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Link", "</style.css>; rel=stylesheet")
		fmt.Fprint(w, `<a href="/a">a</a>`)
	}))
	defer server.Close()
	ctx := context.Background()
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()

	resp, err := client.Get(ctx, server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	for l, err := range links.InResponse(client, resp) {
		if err != nil {
			log.Fatal(err)
		}
		linked, err := client.Do(ctx, resp.Request(l.URL))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(l.From, linked.URL.Path(), linked.Code)
		linked.Body.Close()
	}
	// Output:
	// Link stylesheet /style.css 200
	// a href /a 200
}
