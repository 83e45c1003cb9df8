package wrap

import (
	"context"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/telnet"
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
	c := fetch.New(fetch.Options{Wrap: []fetch.Middleware{capture}}, slices.Concat( // package schemes imports wrap
		file.Schemes(file.Options{}), ftp.Schemes(ftp.Options{}), gopher.Schemes(gopher.Options{}), http.Schemes(http.Options{}),
		telnet.Schemes(telnet.Options{}),
	)...)
	defer c.Close()
	_, _ = c.Do(context.Background(), req)
	return req
}

func request(url string) *fetch.Request { return bound(&fetch.Request{URL: uri.MustParse(url)}) }
