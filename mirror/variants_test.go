package mirror

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
)

// TestVariants checks the maximum number of queries for one path. Repeated
// queries and queries for another path do not count.
func TestVariants(t *testing.T) {
	t.Parallel()
	const limit = 100
	for _, c := range []struct {
		name   string
		limits Limits
		chain  int
		reason string
	}{
		{"queries", Limits{Queries: limit}, 0, reasonQueries},
		{"queries after a long chain", Limits{Chained: limit}, chainStart + 1, reasonChained},
		{"queries after a short chain", Limits{Chained: limit}, chainStart, ""},
		{"queries without a limit", Limits{Queries: -1, Chained: -1}, chainStart + 1, ""},
	} {
		b := newScopeFilter(Scope{}, c.limits, new(fetch.Client).Scheme, []uri.URI{uri.MustParse("http://a.example/")})
		for _, path := range []string{"", "other"} {
			n := 0
			for i := range 3 * limit {
				u := uri.MustParse(fmt.Sprintf("http://a.example/%s?page=%d", path, i%(2*limit)))
				reason, _ := b.checkLink(u, archive.Canonical(u), 1, 0, meta{Chain: c.chain})
				if reason == "" {
					n++
				} else if reason != c.reason {
					t.Errorf("%s: %s: %s", c.name, u, reason)
				}
			}
			want := 2 * limit // the first queries, each twice
			if c.reason == "" {
				want = 3 * limit
			}
			if n != want {
				t.Errorf("%s: /%s: %d links, want %d", c.name, path, n, want)
			}
		}
	}
}

// TestQueriesOfLargeForum checks that the default limits include 100,000 topics
// and 4,000 pages that list them, each with a link to the next one only.
func TestQueriesOfLargeForum(t *testing.T) {
	if testing.Short() {
		t.Skip("checks 200,000 URLs")
	}
	t.Parallel()
	b := newScopeFilter(Scope{}, Limits{}, new(fetch.Client).Scheme, []uri.URI{uri.MustParse("http://a.example/")})
	for i := range 100_000 {
		for text, chain := range map[string]int{
			fmt.Sprintf("http://a.example/viewforum.php?start=%d", i/25*25): i / 25,
			fmt.Sprintf("http://a.example/viewtopic.php?t=%d", i):           0,
		} {
			if reason, _ := b.checkLink(uri.MustParse(text), text, 1, 0, meta{Chain: chain}); reason != "" {
				t.Fatalf("%s: %s", text, reason)
			}
		}
	}
}
