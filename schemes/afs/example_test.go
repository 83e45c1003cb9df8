package afs_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/afs"
	"github.com/anyurl/fetch/uri"
)

// This example prints the path of a file of AFS. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, afs.Schemes(afs.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("afs://cell.example/pub/readme")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// OPEN /cell.example/pub/readme (else LIST)
}
