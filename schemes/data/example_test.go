package data_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/data"
	"github.com/anyurl/fetch/uri"
)

// This example prints what a URL contains. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, data.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("data:text/plain,hello")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// decode percent, 5 bytes, text/plain
}
