package tree_test

import (
	"fmt"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func ExamplePath() {
	client := fetch.New(fetch.Options{}, slices.Concat(http.Schemes(http.Options{}), ftp.Schemes(ftp.Options{}),
		gopher.Schemes(gopher.Options{}))...)
	for _, text := range []string{
		"http://example.org/docs/?page=2",
		"gopher://example.org:7070/1/phlog",
		"ftp://example.org/pub/a%20b.txt;type=a",
		"news:1234@example.org",
	} {
		u := uri.MustParse(text)
		fmt.Println(tree.Path(client.Scheme(u.Scheme()), u, false))
	}
	// Output:
	// http/example.org/docs/index.html@q=page=2
	// gopher/example.org+7070/1/phlog/.gophermap
	// ftp/example.org/pub/a b.txt
	// news/@/1234@example.org
}
