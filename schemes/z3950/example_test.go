package z3950_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/z3950"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request for a record. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, z3950.Schemes(z3950.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("z39.50r://z3950.example.org/catalog?1234")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// init
	// search catalog @attr 1=1032 @attr 4=104 "1234"
	// present 1
}
