package sftp_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/sftp"
	"github.com/anyurl/fetch/uri"
)

// This example prints the steps that retrieve a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, sftp.Schemes(sftp.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("sftp://alice@files.example.org/home/alice/readme")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// STAT /home/alice/readme
	// OPEN /home/alice/readme
	// READ
}
