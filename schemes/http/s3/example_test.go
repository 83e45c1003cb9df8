package s3_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/s3"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request for an object. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, s3.Schemes(s3.Options{Anonymous: true})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("s3://bucket/folder/object.txt")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output: GET /folder/object.txt
}
