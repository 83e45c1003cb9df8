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

// printBody prints the body at url.
func printBody(client *fetch.Client, url string) {
	resp, err := client.Get(context.Background(), url)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}

// A Jar keeps cookies between requests.
func ExampleJar() {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "cookie: %q\n", r.Header.Get("Cookie"))
	}))
	defer server.Close()
	setter := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.SetCookie(w, &nethttp.Cookie{Name: "seen", Value: "yes", Path: "/"})
	}))
	defer setter.Close()

	jar := http.NewJar()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{Jar: jar})...)
	defer client.Close()
	printBody(client, setter.URL) // cookies do not depend on the port (RFC 6265 8.5)
	printBody(client, server.URL)
	jar.EndSession()
	printBody(client, server.URL)
	if err := jar.Write(os.Stdout, time.Now()); err != nil { // the jar is empty
		log.Fatal(err)
	}
	// Output:
	// cookie: "seen=yes"
	// cookie: ""
	// # Netscape HTTP Cookie File
}

// A gateway receives the complete URI.
func ExampleGateway() {
	gateway := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
	}))
	defer gateway.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Gateway(fetch.Scheme{Name: "x500", Port: 0}, uri.MustParse(gateway.URL)))
	defer client.Close()
	printBody(client, "x500:c=GB/o=Example")
	// Output: GET x500:c=GB/o=Example
}
