package altsvc_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/anyurl/fetch/schemes/http/altsvc"
)

// This example reads a file in curl's format. Package schemes/http/h3 uses a
// Store for HTTP/3.
func ExampleStore() {
	store := new(altsvc.Store)
	file := "h2 www.example.org 443 h3 alt.example.org 8443 \"20991231 00:00:00\" 0 0\n"
	if err := store.Read(strings.NewReader(file)); err != nil {
		log.Fatal(err)
	}
	for _, s := range store.Lookup("www.example.org", 443) {
		fmt.Println(s.Address())
	}
	// Output: alt.example.org:8443
}
