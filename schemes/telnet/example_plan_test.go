package telnet_test

import (
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/anyurl/fetch/uri"
)

// This example prints how a session starts. It uses no network.
func ExampleSchemes() {
	client := fetch.New(fetch.Options{}, telnet.Schemes(telnet.Options{})...)
	defer client.Close()
	steps, err := client.Plan(&fetch.Request{URL: uri.MustParse("telnet://bbs.example.org/")})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range steps {
		fmt.Println(step)
	}
	// Output:
	// CONNECT
	// NEGOTIATE
	// SESSION
}
