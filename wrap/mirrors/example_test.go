package mirrors_test

import (
	"context"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap/mirrors"
)

// The first mirror does not have the object, and the second one has it.
func ExampleNew() {
	const object = "the object\n"
	missing := httptest.NewServer(nethttp.NotFoundHandler())
	defer missing.Close()
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.ServeContent(w, r, "object", time.Unix(1e9, 0), strings.NewReader(object))
	}))
	defer server.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()

	o := mirrors.Object{Size: int64(len(object)), Mirrors: []*fetch.Request{
		{URL: uri.MustParse(missing.URL)}, {URL: uri.MustParse(server.URL)},
	}}
	resp, err := mirrors.New(client, o).Do(context.Background(), &fetch.Request{URL: o.Mirrors[0].URL})
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%q %v\n", text, err)
	// Output: "the object\n" <nil>
}
