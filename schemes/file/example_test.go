package file_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/uri"
)

// This example prints the steps that read a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, file.Schemes(file.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("file:///etc/motd")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// OPEN /etc/motd (else LIST)
}
