package mirror_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestCallersScheme checks that a mirror follows links to a scheme of the
// caller according to the fields of the scheme.
func TestCallersScheme(t *testing.T) {
	t.Parallel()
	shelf := func(change func(*fetch.Scheme)) fetch.Scheme {
		s := fetch.Scheme{
			Name:  "shelf",
			Links: scheme.Links{To: []string{"shelf"}},
			Plan:  func(*fetch.Request) ([]scheme.Step, error) { return nil, nil },
			Open: func(fetch.Env) fetch.Driver {
				return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
					body := strings.NewReader("<a href=shelf://h/a/1/1/1/1><a href=shelf://h/b>")
					return &fetch.Response{Kind: fetch.Document, Media: "text/html", Size: -1, Body: io.NopCloser(body)}, nil
				})
			},
		}
		change(&s)
		return s
	}
	for _, c := range []struct {
		name   string
		change func(*fetch.Scheme)
		want   []string
	}{
		{"default fields", func(*fetch.Scheme) {}, []string{"h/b"}},
		{"repeated segments", func(s *fetch.Scheme) { s.Mirror.Repeats = true }, []string{"h/a/1/1/1/1", "h/b"}},
		{"no links allowed", func(s *fetch.Scheme) { s.Links.To = nil }, nil},
		{"alias", func(s *fetch.Scheme) { s.Mirror.Alias = true }, nil},
		{"sessions", func(s *fetch.Scheme) { s.Traits.Session = true }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := mirror.Options{Dir: t.TempDir(), Tree: true, Delay: -1}
			options := fetch.Options{Policy: fetch.Typed()}
			o.Client = fetch.New(options, append(schemes.All(schemes.Options{}), shelf(c.change))...)
			defer o.Client.Close()
			seed, err := fetch.ParseURL("shelf://h/")
			if err != nil {
				t.Fatal(err)
			}
			o.Seeds = append(o.Seeds, seed)
			run(t, o)
			var got []string
			for name := range tree(t, o.Dir, "shelf") {
				if !strings.Contains(name, ".listing") {
					got = append(got, name)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestUnclassifiedError checks that an error without a Fault in the driver of a
// caller fails one URL and not the run.
func TestUnclassifiedError(t *testing.T) {
	t.Parallel()
	page := func(body io.Reader) (*fetch.Response, error) {
		return &fetch.Response{Kind: fetch.Document, Media: "text/html", Size: -1, Body: io.NopCloser(body)}, nil
	}
	open := func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		switch req.URL.Path() {
		case "/error":
			return nil, errors.New("plain")
		case "/read":
			return page(iotest.ErrReader(errors.New("plain")))
		}
		return page(strings.NewReader("<a href=shelf://h/error><a href=shelf://h/read><a href=shelf://h/b>"))
	}
	o := mirror.Options{Dir: t.TempDir(), Tree: true, Delay: -1, Seeds: []uri.URI{uri.MustParse("shelf://h/")}}
	o.Client = fetch.New(fetch.Options{Policy: fetch.Typed()}, fetch.Scheme{
		Name: "shelf", Links: scheme.Links{To: []string{"shelf"}},
		Open: func(fetch.Env) fetch.Driver { return fetch.DriverFunc(open) },
	})
	defer o.Client.Close()
	for range 2 {
		if sum := run(t, o); sum.Failed != 2 || sum.Pending != 0 || sum.New+sum.Unchanged != 2 {
			t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
		}
	}
}

// TestCallersListing checks that a listing of a scheme of the caller is a
// listing in the WARC files too, although its media type is also the type of
// documents.
func TestCallersListing(t *testing.T) {
	t.Parallel()
	shelf := fetch.Scheme{
		Name: "shelf",
		Plan: func(*fetch.Request) ([]scheme.Step, error) { return nil, nil },
		Open: func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{Kind: fetch.Menu, Media: "text/plain", Size: -1, Body: io.NopCloser(strings.NewReader("a"))}, nil
			})
		},
		Menu: func(_ uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
			return func(yield func(fetch.Entry, error) bool) {
				name, err := io.ReadAll(r)
				yield(fetch.Entry{Name: media + " " + string(name), Kind: fetch.Info}, err)
			}
		},
	}
	o := mirror.Options{Dir: t.TempDir(), WARC: &mirror.WARC{}, Delay: -1, Seeds: []uri.URI{uri.MustParse("shelf://h/")}}
	o.Client = fetch.New(fetch.Options{Policy: fetch.Typed()}, shelf)
	defer o.Client.Close()
	run(t, o)
	a, err := warc.Open(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	replay := fetch.New(fetch.Options{Policy: fetch.Typed()}, a.Schemes(shelf)...)
	defer replay.Close()
	resp, err := replay.Get(t.Context(), "shelf://h/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for e, err := range resp.Entries() {
		if err != nil || e.Name != "text/plain a" {
			t.Errorf("got %q, %v", e.Name, err)
		}
	}
}
