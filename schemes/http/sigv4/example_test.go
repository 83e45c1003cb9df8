package sigv4_test

import (
	"context"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/sigv4"
	"github.com/anyurl/fetch/uri"
)

// The middleware signs a request with the credential of the request.
func ExampleMiddleware() {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		method, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		io.WriteString(w, method)
	}))
	defer server.Close()
	sign := sigv4.Middleware(sigv4.Options{Region: "us-east-1", Service: "s3"})
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{sign}}, http.Schemes(http.Options{})...)
	defer client.Close()
	req := &fetch.Request{URL: uri.MustParse(server.URL), Auth: &fetch.Credential{User: "KEY", Password: "SECRET"}}
	resp, err := client.Do(context.Background(), req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Println(string(text), err)
	// Output: AWS4-HMAC-SHA256 <nil>
}
