package ipfs_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/ipfs"
	"github.com/anyurl/fetch/uri"
)

// This example prints the request for a file. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, ipfs.Schemes(ipfs.Options{Gateway: "https://gateway.example.org"})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku/notes.txt")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output: GET /ipfs/bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku/notes.txt?format=car&dag-scope=entity
}
