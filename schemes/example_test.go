package schemes_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

func ExampleNewClient() {
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()
	resp, err := client.Get(context.Background(), "data:text/plain,hello")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Media, string(text), err)
	// Output:
	// text/plain hello <nil>
}
