package h3_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/h3"
)

// The server does not support HTTP/3, so that the request uses TCP.
func ExampleNew() {
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		io.WriteString(w, "hello\n")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()

	options := fetch.Options{
		Policy: fetch.Typed(),
		TLS:    &tls.Config{RootCAs: server.Client().Transport.(*nethttp.Transport).TLSClientConfig.RootCAs},
	}
	client := fetch.New(options, http.Schemes(http.Options{HTTP3: h3.New(h3.Options{Mode: h3.Race})})...)
	defer client.Close()
	resp, err := client.Get(context.Background(), server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Proto)
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
	// Output:
	// HTTP/2
	// hello
}
