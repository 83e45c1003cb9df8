package fetch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// The names and the sizes of the files in a directory of an FTP server.
func ExampleClient_List_ftp() {
	client := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	defer client.Close()
	for entry, err := range client.List(context.Background(), "ftp://ftp.example.org/pub/") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Name, entry.Kind, entry.Size)
	}
}
