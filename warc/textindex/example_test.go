package textindex_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/textindex"
)

// This example searches in a WARC file with one text.
func Example() {
	path, err := os.MkdirTemp("", "textindex")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	dir, err := os.OpenRoot(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	w, err := warc.NewWriter(dir, warc.Options{Name: "x.warc.gz"})
	if err != nil {
		log.Fatal(err)
	}
	c := warc.Capture{URL: uri.MustParse("ftp://ftp.example.org/motd.txt"), Date: time.Unix(1e9, 0)}
	if _, err := w.Write(c.Resource("text/plain", strings.NewReader("welcome to the archive of whales\n"))); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	ctx, file := context.Background(), filepath.Join(path, "x.warc.gz")
	archive, err := warc.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	schemes := func(name string) fetch.Scheme { return fetch.Scheme{Name: name} }
	if _, err := textindex.Build(ctx, textindex.PathOf(file), archive, schemes); err != nil {
		log.Fatal(err)
	}
	index := textindex.New(textindex.PathOf(file), archive, schemes)
	defer index.Close()
	found, err := index.Search(ctx, textindex.Query{Words: "whales"})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.URL)
	}
	// Output: ftp://ftp.example.org/motd.txt
}
