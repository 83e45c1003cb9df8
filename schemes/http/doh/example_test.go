package doh_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// A Client with this Resolver sends its DNS queries to an https server. New sends
// no query.
func ExampleNew() {
	resolver, err := doh.New(doh.Options{URL: "https://dns.example.org/dns-query"})
	if err != nil {
		log.Fatal(err)
	}
	defer resolver.Close()
	client := fetch.New(fetch.Options{Resolver: resolver}, http.Schemes(http.Options{})...)
	defer client.Close()

	_, err = doh.New(doh.Options{URL: "http://dns.example.org/dns-query"})
	fmt.Println(errors.Is(err, fetch.Usage))
	// Output: true
}
