package http_test

import (
	"context"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// print writes what url brings.
func print(client *fetch.Client, url string) {
	resp, err := client.Get(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}

// A jar keeps cookies from one request to the next.
func ExampleJar() {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "cookie: %q\n", r.Header.Get("Cookie"))
	}))
	defer server.Close()
	setter := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.SetCookie(w, &nethttp.Cookie{Name: "seen", Value: "yes", Path: "/"})
	}))
	defer setter.Close()

	var jar http.Jar
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{Jar: &jar})...)
	defer client.Close()
	print(client, setter.URL) // cookies know no ports: RFC 6265 8.5
	print(client, server.URL)
	jar.EndSession()
	print(client, server.URL)
	if err := jar.Write(os.Stdout, time.Now()); err != nil { // nothing is left
		log.Fatal(err)
	}
	// Output:
	// cookie: "seen=yes"
	// cookie: ""
	// # Netscape HTTP Cookie File
}

// A gateway is asked for the whole URI.
func ExampleGateway() {
	gateway := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	}))
	defer gateway.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Gateway(fetch.Scheme{Name: "x500", Port: 0}, uri.MustParse(gateway.URL)))
	defer client.Close()
	print(client, "x500:c=GB/o=Example")
	// Output: GET x500:c=GB/o=Example
}
