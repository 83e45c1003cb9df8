package smb_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/smb"
	"github.com/anyurl/fetch/uri"
)

// This example prints the steps that retrieve a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, smb.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("smb://files.example.org/public/docs/readme.txt")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// TREE_CONNECT public
	// CREATE docs\readme.txt
	// READ
}
