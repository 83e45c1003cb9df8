package urlfs_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"testing/fstest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/urlfs"
	"github.com/anyurl/fetch/schemes"
)

// printTree prints the paths of all files below a directory. The URL can have
// any scheme with listings, such as ftp, sftp or http.
func printTree(ctx context.Context, w io.Writer, url string) error {
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()
	return fs.WalkDir(urlfs.New(ctx, client, url), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, d)
		return err
	})
}

func Example() {
	files := fstest.MapFS{"a.txt": {Data: []byte("first\n")}, "sub/b.txt": {Data: []byte("second\n")}}
	server := httptest.NewServer(http.FileServerFS(files))
	defer server.Close()
	if err := printTree(context.Background(), os.Stdout, server.URL); err != nil {
		log.Fatal(err)
	}
	// Output:
	// d ./
	// - a.txt
	// d sub/
	// - b.txt
}
