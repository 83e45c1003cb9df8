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

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// The same call brings a site, and looks again for what changed.
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
		Wrap: []fetch.Middleware{
			wrap.Retry(wrap.RetryOptions{}),
			wrap.Polite(wrap.PoliteOptions{Rule: wrap.Robots("example")}),
		},
	}, schemes.All(schemes.Options{})...)
	defer client.Close()

	ctx := context.Background()
	o := mirror.Options{Dir: filepath.Join(dir, "site"), Seeds: []uri.URI{uri.MustParse(server.URL + "/")}, Client: client}
	for range 2 {
		did, err := mirror.Run(ctx, o)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("run %d: %d new, %d unchanged, %d failed\n", did.Run, did.New, did.Same, did.Failed)
	}
	for line, err := range mirror.Dump(ctx, o.Dir, mirror.Dead) {
		fmt.Println(line.State, uri.MustParse(line.URL).Path(), err)
	}
	for finding, err := range mirror.Verify(ctx, o.Dir) {
		fmt.Println(finding, err) // nothing is found
	}
	// Output:
	// run 1: 2 new, 0 unchanged, 1 failed
	// run 2: 0 new, 2 unchanged, 1 failed
	// dead /gone.txt <nil>
}
