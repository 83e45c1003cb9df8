package hsts_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/uri"
)

// A Client with this Store requests https URLs in place of http URLs.
func ExampleStore() {
	store := new(hsts.Store)
	if err := store.Read(strings.NewReader(".example.org \"20991231 00:00:00\"\n")); err != nil { // curl's format
		log.Fatal(err)
	}
	options := fetch.Options{Upgrade: store.Upgrade, Wrap: []fetch.Middleware{store.Middleware}}
	client := fetch.New(options, http.Schemes(http.Options{})...)
	defer client.Close()
	fmt.Println(store.Upgrade(uri.MustParse("http://www.example.org/page")))
	fmt.Println(store.Upgrade(uri.MustParse("http://other.example/page")))
	// Output:
	// https://www.example.org/page
	// http://other.example/page
}
