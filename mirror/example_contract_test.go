package mirror_test

import (
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
)

// TestShelfExample runs the suite of fetchtest with the example of
// doc/library.md.
func TestShelfExample(t *testing.T) {
	body := strings.Repeat("0123456789", 10_000)
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return []fetch.Scheme{shelf(map[string]string{"/": body})} },
		Document: "shelf://localhost/",
		Body:     []byte(body),
		Missing:  "shelf://localhost/none",
		NoRanges: true,
		Local:    true,
	})
	page, err := os.ReadFile("../doc/library-crawls.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "func shelf(")
	code, _, ok := strings.Cut(code, "}\n\n// ")
	if !ok || !strings.Contains(string(source), "func shelf("+code) {
		t.Error("doc/library-crawls.md differs from example_test.go")
	}
}
