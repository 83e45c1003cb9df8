package trace_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// This example prints the phases of a request, and counts its bytes.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()
	received := 0
	resp, err := client.Do(context.Background(), &fetch.Request{
		URL: uri.MustParse(server.URL),
		Trace: &trace.Trace{
			Phase:    func(p trace.Phase, _ net.Conn) { fmt.Println(p) },
			Received: func(p []byte) { received += len(p) },
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		log.Fatal(err)
	}
	fmt.Println("more bytes than the body:", received > len("hello"))
	// Output:
	// resolved
	// connected
	// request sent
	// first byte
	// more bytes than the body: true
}
