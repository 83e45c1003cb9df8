package override_test

import (
	"context"
	"fmt"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/schemes"
)

// The Policy denies port 25 for http before any network traffic. The program
// could add the port to Policy.Ports after asking the user.
func ExampleOf() {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{})...)
	defer client.Close()
	_, err := client.Get(context.Background(), "http://127.0.0.1:25/")
	fmt.Println(fetch.FaultOf(err))
	fmt.Println(override.Of(err))
	// Output:
	// policy-port
	// Policy.Ports http:25
}
