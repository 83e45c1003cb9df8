package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// A table resolves the names of a test network. The Policy of the Client checks
// its addresses like those of a DNS server.
type table map[string]netip.Addr

func (t table) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := t[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{a}, nil
	}
	return nil, fetch.DNS.Errorf("%s is not in the table", host)
}

func ExampleResolver() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer server.Close()
	names := table{"printer.test": netip.MustParseAddr("127.0.0.1"), "metadata.test": netip.MustParseAddr("169.254.169.254")}
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Resolver: names}, schemes.All(schemes.Options{})...)
	defer client.Close()

	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	resp, err := client.Get(context.Background(), "http://printer.test:"+port+"/")
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.Proto)
	_, err = client.Get(context.Background(), "http://metadata.test/")
	fmt.Println(err)
	// Output:
	// HTTP/1.1
	// get http://metadata.test/: denied by policy: address of a metadata service: metadata.test is 169.254.169.254
}
