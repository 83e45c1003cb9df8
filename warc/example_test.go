package warc_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A menu is written as it came over the network, verified, and read again as
// if it came anew.
func Example() {
	dir, err := os.MkdirTemp("", "warc")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	w, err := warc.NewWriter(warc.Root(root), warc.Options{Info: fetch.Header{{Name: "operator", Value: "a reader"}}})
	if err != nil {
		log.Fatal(err)
	}
	c := warc.Capture{URL: uri.MustParse("gopher://gopher.example/1/"), Date: time.Now(), Protocols: []string{"gopher"}}
	places, err := w.Write(
		c.Resource("application/gopher-menu", strings.NewReader("0About\t/about.txt\tgopher.example\t70\r\n.\r\n")),
		c.Metadata("text/x-gopher-conversation", strings.NewReader("> \r\n")))
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	file := filepath.Join(dir, places[0].File)
	for found, err := range warc.Verify(file) {
		fmt.Println(found, err) // nothing is found
	}

	archive, err := warc.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	client := fetch.New(fetch.Options{}, archive.Schemes(gopher.Schemes(gopher.Options{})...)...)
	defer client.Close()
	resp, err := client.Get(context.Background(), "gopher://gopher.example/1/")
	if err != nil {
		log.Fatal(err)
	}
	for entry, err := range resp.Entries() {
		fmt.Println(entry.Name, entry.URL, err)
	}
	// Output:
	// About gopher://gopher.example/0/about.txt <nil>
}

// The block of a record is read as it stands in the file.
func ExampleReader() {
	file := strings.NewReader("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: file:///motd\r\nContent-Length: 6\r\n\r\nhello\n\r\n\r\n")
	r := warc.NewReader(file)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		block, err := io.ReadAll(r)
		fmt.Printf("%s %s %q %v\n", h.Type(), h.Target(), block, err)
	}
	// Output:
	// resource file:///motd "hello\n" <nil>
}

func ExampleKey() {
	fmt.Println(warc.Key("http://www.Example.org:80/a?z=1&b=2"))
	fmt.Println(warc.Key("gopher://gopher.example/1/"))
	// Output:
	// org,example)/a?b=2&z=1
	// gopher://gopher.example/1/
}
