package main

import (
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/listing"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// albums contains the objects of the scheme album. Those of folders are the
// names of their entries.
var albums = map[string]string{"/": "summer/\na%20b.txt", "/summer/": "beach.txt", "/a%20b.txt": "text", "/summer/beach.txt": "sand"}

// album returns a scheme that a program could add. Its driver opens no
// connections.
func album() fetch.Scheme {
	return fetch.Scheme{
		Name:   "album",
		Port:   7777,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"album"}},
		Traits: scheme.Traits{ReportsSize: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Listing: "index.album", Native: true}},
		Plan:   func(*fetch.Request) ([]scheme.Step, error) { return nil, nil },
		Menu: func(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
			return func(yield func(fetch.Entry, error) bool) {
				names, err := io.ReadAll(r)
				for name := range strings.FieldsSeq(string(names)) {
					e := fetch.Entry{Name: name, Kind: fetch.Document, Size: -1}
					if e.URL, err = base.WithPath(base.Path() + name); strings.HasSuffix(name, "/") {
						e.Kind = fetch.Menu
					}
					if !yield(e, err) {
						return
					}
				}
			}
		},
		Open: func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
				body, ok := albums[req.URL.Path()]
				if !ok {
					return nil, fetch.NotFound.Errorf("no such object")
				}
				resp := &fetch.Response{Kind: fetch.Document, Media: "text/plain", Size: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
				if strings.HasSuffix(req.URL.Path(), "/") {
					resp.Kind = fetch.Menu
				}
				return resp, nil
			})
		},
	}
}

// TestOwnScheme checks that a scheme of another program is listed, mirrored and
// shown like the schemes of this module.
func TestOwnScheme(t *testing.T) {
	t.Parallel()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, album())
	defer client.Close()
	t.Run("ls", func(t *testing.T) {
		format := listing.Format{Scheme: client.Scheme, HideSize: true, HideTime: true}
		var lines []string
		for e, err := range client.List(t.Context(), "album://h/") {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, format.Line(e))
		}
		if want := []string{"directory summer/", "document  a%20b.txt"}; !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
	})
	dir := t.TempDir()
	o := mirror.Options{Dir: dir, Client: client, Seeds: []uri.URI{uri.MustParse("album://h/")}, Tree: true, WARC: &mirror.WARC{}, Delay: -1}
	if _, err := mirror.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Run("mirror", func(t *testing.T) {
		for name, url := range map[string]string{"index.album": "/", "summer/index.album": "/summer/", "a b.txt": "/a%20b.txt", "summer/beach.txt": "/summer/beach.txt"} {
			if got, err := os.ReadFile(filepath.Join(dir, "tree/album/h", name)); err != nil || string(got) != albums[url] {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	})
	t.Run("serve", func(t *testing.T) {
		archive, err := warc.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		h, err := gateway.New(gateway.Options{
			Address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8700}, Schemes: []fetch.Scheme{album()},
			Archives: []gateway.Archive{{Name: "a", Source: archive}},
			Live: &gateway.Live{Client: func(p fetch.Policy, _ bool) (*fetch.Client, error) {
				return fetch.New(fetch.Options{Policy: p}, album()), nil
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for _, page := range []struct{ path, want string }{
			{"/live/album://h/", ">folder<"},
			{"/live/album://h/summer/", ">beach.txt<"},
			{"/live/album://h/summer/", ">h</a>"}, // the folder above
			{"/archive/a/2024/album://h/", ">folder<"},
			{"/archive/a/2024/album://h/summer/", ">h</a>"},
			{"/archive/a/2024/album://h/summer/beach.txt", ">summer</a>"},
		} {
			if got := pageOf(t, h, page.path); !strings.Contains(got, page.want) {
				t.Errorf("%s: no %s in %s", page.path, page.want, got)
			}
		}
	})
}

// pageOf requests a page of a gateway as a browser does for a URL that the user
// entered. It follows one redirect.
func pageOf(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	for range 2 {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Host = "localhost:8700"
		r.Header.Set("Sec-Fetch-Site", "none")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if path = w.Header().Get("Location"); path == "" {
			return w.Body.String()
		}
	}
	t.Fatalf("redirect to %s", path)
	return ""
}
