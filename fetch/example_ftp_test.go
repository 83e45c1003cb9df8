package fetch_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// printDirectory writes the names and sizes of the entries of a listing.
func printDirectory(ctx context.Context, client *fetch.Client, w io.Writer, url string) error {
	for entry, err := range client.List(ctx, url) {
		if err != nil {
			return err
		}
		fmt.Fprintln(w, entry.Name, entry.Kind, entry.Size)
	}
	return nil
}

// This example lists a directory of an FTP server.
func ExampleClient_List_ftp() {
	client := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	defer client.Close()
	err := printDirectory(context.Background(), client, os.Stdout, "ftp://ftp.example.org/pub/")
	if err != nil {
		log.Fatal(err)
	}
}
