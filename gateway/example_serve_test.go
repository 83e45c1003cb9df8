package gateway_test

import (
	"context"
	"fmt"

	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/schemes"
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
