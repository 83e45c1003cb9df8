package scheme_test

import (
	"fmt"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// The field Parents of the Traits of a scheme is often Folders.
func ExampleFolders() {
	traits := scheme.Traits{Parents: scheme.Folders}
	for _, u := range traits.Parents(uri.MustParse("ftp://example.org/pub/dir/file")) {
		fmt.Println(u)
	}
	// Output:
	// ftp://example.org/
	// ftp://example.org/pub/
	// ftp://example.org/pub/dir/
}
