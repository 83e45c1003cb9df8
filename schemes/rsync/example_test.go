package rsync_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/rsync"
	"github.com/anyurl/fetch/uri"
)

// This example prints the steps that retrieve a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, rsync.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("rsync://rsync.example.org/module/readme")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// module
	// --server --sender -Ltde.fCv . module/readme
}
