package mirror_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// The first call mirrors a site, and the second one retrieves its changes.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<a href="about.txt">about</a> <a href="gone.txt">gone</a>`)
		case "/about.txt":
			io.WriteString(w, "about this site\n")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	client := fetch.New(fetch.Options{
		Policy: fetch.Typed(), // the server of this example is not public
		Wrap:   wrap.Standard(wrap.Options{}),
	}, schemes.All(schemes.Options{})...)
	defer client.Close()

	ctx := context.Background()
	o := mirror.Options{
		Dir: filepath.Join(dir, "site"), Seeds: []uri.URI{uri.MustParse(server.URL + "/")},
		Client: client, Agent: "example", // the name in robots.txt
	}
	for range 2 {
		did, err := mirror.Run(ctx, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("run %d: %d new, %d unchanged, %d failed\n", did.Run, did.New, did.Unchanged, did.Failed)
	}
	for line, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Dump(ctx, mirror.Dead) {
		fmt.Println(line.State, uri.MustParse(line.URL).Path(), err)
	}
	for finding, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(ctx) {
		fmt.Println(finding, err) // there are no findings
	}
	// Output:
	// run 1: 2 new, 0 unchanged, 1 failed
	// run 2: 0 new, 2 unchanged, 1 failed
	// dead /gone.txt <nil>
}

// shelf returns the scheme of shelf://HOST/PATH, whose pages may link to
// pages of the same scheme.
func shelf(pages map[string]string) fetch.Scheme {
	open := func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		page, ok := pages[req.URL.Path()]
		if !ok {
			return nil, fetch.NotFound.Errorf("no such page")
		}
		if req.Op == fetch.Stat { // the response has no body
			page = ""
		}
		body := io.NopCloser(strings.NewReader(page))
		return &fetch.Response{Kind: fetch.Document, Media: "text/html", Size: -1, Body: body}, nil
	}
	return fetch.Scheme{
		Name: "shelf", Links: scheme.Links{To: []string{"shelf"}},
		Open: func(fetch.Env) fetch.Driver { return fetch.DriverFunc(open) },
	}
}

// mirrorShelf mirrors shelf://localhost/ into the folder dir.
func mirrorShelf(ctx context.Context, dir string, pages map[string]string) (mirror.Summary, error) {
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, shelf(pages))
	defer client.Close()
	seeds := []uri.URI{uri.MustParse("shelf://localhost/")}
	return mirror.Run(ctx, mirror.Options{Dir: dir, Seeds: seeds, Client: client})
}

// A mirror follows links to every scheme of its Client, including schemes that
// the program defines.
func Example_customScheme() {
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pages := map[string]string{"/": `<a href="shelf://localhost/book">`, "/book": "a book"}
	summary, err := mirrorShelf(context.Background(), dir, pages)
	if err != nil {
		log.Fatal(err)
	}
	book, err := os.ReadFile(filepath.Join(dir, "tree", "shelf", "localhost", "book"))
	fmt.Printf("%d new: %s %v\n", summary.New, book, err)
	// Output: 2 new: a book <nil>
}
