package fetchtest_test

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/uri"
)

func schemes() []fetch.Scheme {
	return []fetch.Scheme{fetch.FuncScheme("shelf", func(u uri.URI) (media, object string, err error) {
		if u.Path() != "/book" {
			return "", "", fetch.NotFound.Errorf("no such book")
		}
		return "text/plain", "a book", nil
	})}
}

// A test of a scheme is usually a function of its own, such as TestShelf.
func ExampleRun() {
	testShelf := func(t *testing.T) {
		fetchtest.Run(t, fetchtest.Suite{
			Schemes: schemes, Document: "shelf://localhost/book", Body: []byte("a book"), Missing: "shelf://localhost/none",
			Local: true,
		})
	}
	all := func(string, string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(all, []testing.InternalTest{{Name: "TestShelf", F: testShelf}}))
	// Output: true
}
