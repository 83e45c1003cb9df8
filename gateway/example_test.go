package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/gateway"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// writePage writes a WARC file with the capture of a page and returns its name.
func writePage(dir string) (name string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "page.warc.gz"})
	if err != nil {
		return "", err
	}
	page := warc.Capture{URL: uri.MustParse("http://example.org/")}
	text := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 16\r\n\r\n<p>archived page"
	if _, err := w.Write(page.Response(strings.NewReader(text))); err != nil {
		return "", err
	}
	return filepath.Join(dir, "page.warc.gz"), w.Close()
}

// This example shows an archive to a browser.
func Example() {
	dir, err := os.MkdirTemp("", "gateway")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name, err := writePage(dir)
	if err != nil {
		log.Fatal(err)
	}
	archive, err := warc.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()

	listener, err := gateway.Listen("localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	handler, err := gateway.New(gateway.Options{
		Address: listener.Addr(), Schemes: fetchhttp.Schemes(fetchhttp.Options{}),
		Archives: []gateway.Archive{{Name: "page", Source: archive}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer handler.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- handler.Serve(ctx, listener, 0) }()

	resp, err := http.Get("http://" + listener.Addr().String() + "/")
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.StatusCode, strings.Contains(string(text), "<title>"), err)
	stop()
	<-ended
	// Output:
	// 200 true <nil>
}
