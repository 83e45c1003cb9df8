package urlfs_test

import (
	"context"
	"io"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

type reader = io.Reader

type nopCloser struct{ io.Reader }

func (nopCloser) Close() error { return nil }

// shelf returns a scheme without a network.
func shelf(
	open func(context.Context, *fetch.Request) (*fetch.Response, error),
	menu func(uri.URI, string, io.Reader) func(func(fetch.Entry, error) bool),
) fetch.Scheme {
	return fetch.Scheme{
		Name: "shelf", Links: scheme.Links{To: []string{"shelf"}},
		Open: func(fetch.Env) fetch.Driver { return fetch.DriverFunc(open) },
		Menu: func(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
			return menu(base, media, r)
		},
	}
}
