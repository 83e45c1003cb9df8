package tree_test

import (
	"fmt"

	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

func ExamplePath() {
	for _, u := range []string{
		"http://example.org/docs/?page=2",
		"gopher://example.org:7070/1/phlog",
		"ftp://example.org/pub/a%20b.txt;type=a",
		"news:1234@example.org",
	} {
		fmt.Println(tree.Path(uri.MustParse(u), false))
	}
	// Output:
	// http/example.org/docs/index.html@q=page=2
	// gopher/example.org+7070/1/phlog/.gophermap
	// ftp/example.org/pub/a b.txt
	// news/@/1234@example.org
}
