package wrap

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// bound returns req in the form in which the middlewares of a Client receive
// it, with the data of its scheme.
func bound(req *fetch.Request) *fetch.Request {
	capture := func(fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(_ context.Context, r *fetch.Request) (*fetch.Response, error) {
			req = r
			return nil, fetch.Unsupported
		})
	}
	c := fetch.New(fetch.Options{Wrap: []fetch.Middleware{capture}}, schemes.All(schemes.Options{})...)
	defer c.Close()
	_, _ = c.Do(context.Background(), req)
	return req
}

func request(url string) *fetch.Request { return bound(&fetch.Request{URL: uri.MustParse(url)}) }
