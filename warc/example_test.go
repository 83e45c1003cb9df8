package warc_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/gopher"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// This example writes a Gopher menu, verifies the file and replays the menu.
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

	w, err := warc.NewWriter(root, warc.Options{Info: fetch.Header{{Name: "operator", Value: "a reader"}}})
	if err != nil {
		log.Fatal(err)
	}
	c := warc.Capture{URL: uri.MustParse("gopher://gopher.example/1/"), Date: time.Now(), Protocols: []string{"gopher"}}
	positions, err := w.Write(
		c.Resource("application/gopher-menu", strings.NewReader("0About\t/about.txt\tgopher.example\t70\r\n.\r\n")),
		c.Metadata(warc.FieldsMedia, strings.NewReader("sent: \r\n")))
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	file := filepath.Join(dir, positions[0].File)
	for found, err := range warc.Verify(file) {
		fmt.Println(found, err) // there are no findings
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

// This example records an HTTP exchange. A Trace receives the bytes sent over
// the network. For other schemes, the response Body is the block of the record.
func ExampleCapture_Response() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello\n")
	}))
	defer server.Close()
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
	w, err := warc.NewWriter(root, warc.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, web.Schemes(web.Options{})...)
	defer client.Close()

	var sent, got bytes.Buffer
	c := warc.Capture{URL: uri.MustParse(server.URL + "/"), Date: time.Now()}
	resp, err := client.Do(context.Background(), &fetch.Request{URL: c.URL, NoFollow: true, Trace: &trace.Trace{
		Sent:     func(p []byte) { sent.Write(p) },
		Received: func(p []byte) { got.Write(p) },
		Restart:  func() { sent.Reset(); got.Reset() }, // a retry discards the earlier bytes
	}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body) // after io.EOF, the trace is complete
	resp.Body.Close()
	if err != nil {
		log.Fatal(err)
	}
	c.IP = resp.Peer
	positions, err := w.Write(c.Response(bytes.NewReader(got.Bytes())), c.Request(bytes.NewReader(sent.Bytes())))
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	archive, err := warc.Open(filepath.Join(dir, positions[0].File))
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	replay := fetch.New(fetch.Options{Policy: fetch.Typed()}, archive.Schemes(web.Schemes(web.Options{})...)...)
	defer replay.Close()
	again, err := replay.Get(context.Background(), c.URL.String())
	if err != nil {
		log.Fatal(err)
	}
	defer again.Body.Close()
	body, err := io.ReadAll(again.Body)
	fmt.Printf("%d %q %v\n", again.Code, body, err)
	// Output: 200 "hello\n" <nil>
}

// This example reads all records of a WARC file. The block of a response record
// starts with the status line of HTTP.
func ExampleReader() {
	file := strings.NewReader("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: file:///motd\r\nContent-Length: 6\r\n\r\nhello\n\r\n\r\n" +
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\nContent-Type: application/http;msgtype=response\r\n" +
		"Content-Length: 47\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno\r\n\r\n")
	r := warc.NewReader(file)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if h.Type() == warc.Response {
			resp, err := http.ReadResponse(bufio.NewReader(r), nil)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(h.Type(), h.Target(), resp.Status)
			continue // Next skips the rest of the block
		}
		block, err := io.ReadAll(r)
		fmt.Printf("%s %s %q %v\n", h.Type(), h.Target(), block, err)
	}
	// Output:
	// resource file:///motd "hello\n" <nil>
	// response http://example.org/ 404 Not Found
}

func ExampleKey() {
	fmt.Println(warc.Key("http://www.Example.org:80/a?z=1&b=2"))
	fmt.Println(warc.Key("gopher://gopher.example/1/"))
	// Output:
	// org,example)/a?b=2&z=1
	// gopher://gopher.example/1/
}
