package dict_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/dict"
	"github.com/anyurl/fetch/uri"
)

// This example prints the commands for the definition of a word. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, dict.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("dict://dict.example.org/d:gopher")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// CLIENT fetch
	// DEFINE ! "gopher"
	// QUIT
}
