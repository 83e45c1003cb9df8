package finger_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/finger"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request for information about a user. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, finger.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("finger://host.example.org/alice")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// send alice
}
