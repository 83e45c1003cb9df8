package ldap_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/ldap"
	"github.com/anyurl/fetch/uri"
)

// This example prints the search for a URL. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, ldap.Schemes(ldap.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("ldap://ldap.example.org/dc=example,dc=org?cn?sub?(uid=alice)")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// search sub "dc=example,dc=org" (uid=alice) cn
}
