package wais_test

import (
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/wais"
	"github.com/anyurl/fetch/uri"
)

// A search is a URL, and so is each of its results. Client.Do retrieves both.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, wais.Schemes(wais.Options{})...)
	defer client.Close()
	index := uri.MustParse("wais://wais.example.org/notes")
	found := uri.MustParse("wais://wais.example.org/notes/TEXT/128/3=0%20128%20/alpha.txt;")
	u, err := client.Query(index, fetch.Search{Words: "humpback whales", Like: []uri.URI{found}, Max: 10})
	fmt.Println(u, err)
	for _, u := range []uri.URI{u, found} {
		steps, err := client.Plan(&fetch.Request{URL: u})
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(steps[len(steps)-1])
	}
	// Output:
	// wais://wais.example.org/notes?humpback+whales&like=TEXT/128/3=0%20128%20/alpha.txt;&max=10 <nil>
	// search notes humpback+whales&like=TEXT/128/3=0%20128%20/alpha.txt;&max=10
	// retrieve notes TEXT/128/3=0%20128%20/alpha.txt; bytes 0-128
}
