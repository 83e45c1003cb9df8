package whoispp_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/whoispp"
	"github.com/anyurl/fetch/uri"
)

// This example prints the query of a URL. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, whoispp.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("whois++://whois.example.org/name=alice")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// send name=alice
}
