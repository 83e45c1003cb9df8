package pop_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/pop"
	"github.com/anyurl/fetch/uri"
)

// This example prints the commands that list a mailbox. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, pop.Schemes(pop.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("pop://alice@mail.example.org/")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// CAPA
	// STLS
	// AUTH *** (else USER)
	// LIST
}
