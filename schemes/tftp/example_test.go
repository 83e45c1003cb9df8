package tftp_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/tftp"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request for a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, tftp.Schemes(tftp.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("tftp://boot.example.org/image.bin")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// RRQ image.bin octet tsize 0 blksize 1428 timeout 2
}
