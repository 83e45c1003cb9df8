package wrap_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// This example retries requests to a busy server and reports the attempts.
func ExampleStandard() {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy {
			busy = false
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "here it is\n")
	}))
	defer server.Close()

	again := func(_ context.Context, a wrap.Attempt) {
		fmt.Printf("attempt %d: %v\n", a.Count, fetch.FaultOf(a.Err))
	}
	show := func(e wrap.Event) {
		if e.State == wrap.Ended {
			fmt.Printf("%d of %d bytes\n", e.Bytes, e.Size)
		}
	}
	client := fetch.New(fetch.Options{
		Policy: fetch.Typed(), // the server of this example is not public
		Wrap: wrap.Standard(wrap.Options{
			Progress: show,
			Retry:    wrap.RetryOptions{Delay: time.Millisecond, Notify: again},
			Polite:   &wrap.PoliteOptions{PerHost: 1},
			Rate:     1 << 20,
		}),
	}, web.Schemes(web.Options{})...)
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s%v\n", body, err)
	// Output:
	// attempt 1: server-temp
	// 11 of 11 bytes
	// here it is
	// <nil>
}

// This example defines a middleware. A middleware sees each redirect as a
// request. It can change a copy of the request, return a response itself, or
// inspect the response of the driver.
func Example_own() {
	named := func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if req.URL.Path() == "/private" {
				return nil, fetch.Denied.Errorf("not for this program")
			}
			req = req.Clone() // do not change the request of the caller
			req.Header = append(req.Header, fetch.Field{Name: "X-Program", Value: "example"})
			return next.Do(ctx, req)
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("asked by", r.Header.Get("X-Program"))
	}))
	defer server.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{named}}, web.Schemes(web.Options{})...)
	defer client.Close()

	for _, path := range []string{"/public", "/private"} {
		resp, err := client.Get(context.Background(), server.URL+path)
		if err != nil {
			fmt.Println(path, "is", fetch.FaultOf(err))
			continue
		}
		resp.Body.Close()
	}
	// Output:
	// asked by example
	// /private is server-perm
}
