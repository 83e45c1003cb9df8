package nfs_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nfs"
	"github.com/anyurl/fetch/uri"
)

// This example prints the calls that read a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, nfs.Schemes(nfs.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("nfs://files.example.org/pub/readme")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// getattr public file handle (else mount)
	// lookup "pub/readme"
	// read (else readdirplus)
}
