package mirror

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// TestVariants checks the maximum number of queries for one path. Repeated
// queries and queries for another path do not count.
func TestVariants(t *testing.T) {
	t.Parallel()
	b := newScopeFilter(Scope{}, new(fetch.Client).Scheme, []uri.URI{uri.MustParse("http://a.example/")})
	for _, path := range []string{"", "other"} {
		n := 0
		for i := range 3 * maxVariants {
			u := uri.MustParse(fmt.Sprintf("http://a.example/%s?page=%d", path, i%(2*maxVariants)))
			if reason, _ := b.checkLink(u, archive.Canonical(u), 1, 0, meta{}); reason == "" {
				n++
			}
		}
		if n != 2*maxVariants { // the first queries, each twice
			t.Errorf("/%s: %d links, want %d", path, n, 2*maxVariants)
		}
	}
}
