package gemini_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/gemini"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request line for a page. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, gemini.Schemes(gemini.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("gemini://gemini.example.org/docs/")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// send gemini://gemini.example.org/docs/
}
