package whois_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/whois"
	"github.com/anyurl/fetch/uri"
)

// This example prints the query for a domain. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, whois.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("whois://whois.example.org/example.org")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// send example.org
}
