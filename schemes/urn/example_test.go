package urn_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/urn"
	"github.com/anyurl/fetch/uri"
)

// This example prints how a URN is resolved. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, urn.Schemes(urn.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("urn:ietf:rfc:2648")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// redirect https://www.rfc-editor.org/rfc/rfc2648.txt
}
