package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/roundtrip"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// This example records the requests of an http.Client in a WARC file, and replays
// them.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "welcome\n") }))
	defer server.Close()
	path, err := os.MkdirTemp("", "record")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	dir, err := os.OpenRoot(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	if err := recordPage(dir, server.URL); err != nil {
		log.Fatal(err)
	}

	archive, err := warc.Open(filepath.Join(path, "page.warc.gz"))
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	replay := fetch.New(fetch.Options{Policy: fetch.Typed()}, archive.Schemes(fetchhttp.Schemes(fetchhttp.Options{})...)...)
	defer replay.Close()
	resp, err := replay.Get(context.Background(), server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%d %q %v\n", resp.Code, text, err)
	// Output:
	// 200 "welcome\n" <nil>
}

// recordPage records a request of an http.Client.
func recordPage(dir *os.Root, url string) error {
	w, err := warc.NewWriter(dir, warc.Options{Name: "page.warc.gz"})
	if err != nil {
		return err
	}
	r := record.New(w, record.Options{})
	options := fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{r.Middleware}}
	client := fetch.New(options, fetchhttp.Schemes(fetchhttp.Options{})...)
	web := &http.Client{Transport: roundtrip.Transport{Client: client}}
	resp, err := web.Get(url)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		err = errors.Join(err, resp.Body.Close())
	}
	return errors.Join(err, client.Close(), r.Err(), w.Close())
}
