package urlfs_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/urlfs"
	"github.com/anyurl/fetch/uri"
)

// TestEndlessListing lists directories with many long URLs. The listings in memory
// have a limit, also together.
func TestEndlessListing(t *testing.T) {
	long := uri.MustParse("test://h/" + strings.Repeat("x", 60_000))
	entries := 0
	menu := func(uri.URI, string, io.Reader) iter.Seq2[fetch.Entry, error] {
		return func(yield func(fetch.Entry, error) bool) {
			more := yield(fetch.Entry{Name: "d", Kind: fetch.Menu, URL: uri.MustParse("test://h/d/")}, nil)
			for i := 0; i < entries && more; i++ {
				more = yield(fetch.Entry{Name: "f", Kind: fetch.Document, URL: long}, nil)
			}
		}
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, fetch.Scheme{Name: "test", Port: 7000, Menu: menu, Links: scheme.Links{To: []string{"test"}, From: []string{"test"}},
		Open: func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{URL: req.URL, Kind: fetch.Menu, Body: io.NopCloser(strings.NewReader("")), Size: -1}, nil
			})
		}})
	defer client.Close()
	fsys := urlfs.New(t.Context(), client, "test://h/")
	for _, c := range []struct {
		name, dir string
		entries   int
		want      error
	}{
		{"an endless listing", ".", 1 << 40, fetch.TooLarge},
		{"half of the limit", ".", 1200, nil},
		{"a directory below it", "d", 1200, fetch.TooLarge},
		{"a short directory below it", "d", 800, nil},
	} {
		entries = c.entries
		if _, err := fsys.ReadDir(c.dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for range 3 {
		fsys.Release(".")
		if _, err := fs.ReadDir(fsys, "."); err != nil {
			t.Errorf("after Release: %v", err)
		}
	}
}
