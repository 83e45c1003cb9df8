package prospero_test

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/prospero"
	"github.com/anyurl/fetch/uri"
)

// An archie search is a directory that its server generates.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, prospero.Schemes(prospero.Options{Match: '='})...)
	defer client.Close()
	u, err := client.Query(uri.MustParse("prospero://archie.example.org/"), fetch.Search{Words: "xarchie", Max: 20})
	fmt.Println(u, err)
	steps, err := client.Plan(&fetch.Request{URL: u})
	if err != nil {
		fmt.Println(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// prospero://archie.example.org/ARCHIE/MATCH(20,0,=)/xarchie <nil>
	// VERSION 5 fetch
	// AUTHENTICATE '' UNAUTHENTICATED anonymous
	// DIRECTORY ASCII ARCHIE/MATCH(20,0,=)/xarchie
	// LIST ATTRIBUTES COMPONENTS
}
