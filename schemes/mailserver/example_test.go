package mailserver_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/mailserver"
	"github.com/anyurl/fetch/uri"
)

// This example prints the mail that a URL describes, which is never sent. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, mailserver.Schemes()...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("mailserver:listserv@example.org/INDEX/get%20index")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// To: listserv@example.org
	// Subject: INDEX
	// body get index
}
