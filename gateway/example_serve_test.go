package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

func show(ctx context.Context, path string) error {
	l, err := gateway.Listen("localhost:8080")
	if err != nil {
		return err
	}
	archives := []gateway.Archive{{Name: "archive", Path: path}}
	return gateway.Serve(ctx, l, gateway.Options{Schemes: schemes.All(schemes.Options{}), Archives: archives})
}

func ExampleServe() {
	fmt.Println(show(context.Background(), "site.wacz"))
}

func liveOptions(all ...fetch.Scheme) gateway.Options {
	newClient := func(p fetch.Policy, _ bool) (*fetch.Client, error) {
		return fetch.New(fetch.Options{Policy: p}, all...), nil
	}
	return gateway.Options{Schemes: all, Live: &gateway.Live{Client: newClient}}
}

// This example shows live pages of a scheme of the program.
func ExampleServe_live() {
	echo := fetch.FuncScheme("echo", func(u uri.URI) (media, object string, err error) {
		return "text/plain", "echo of " + u.Path(), nil
	})
	l, err := gateway.Listen("localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- gateway.Serve(ctx, l, liveOptions(echo)) }()

	resp, err := http.Get("http://" + l.Addr().String() + "/raw/echo:one")
	if err != nil {
		log.Fatal(err)
	}
	object, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.Status, strings.TrimSpace(string(object)), err)
	stop()
	<-served
	// Output: 200 OK echo of one <nil>
}
