package mirror

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestVariants: of one path so many queries are followed, each as often as one
// likes, and of another as many again.
func TestVariants(t *testing.T) {
	t.Parallel()
	j := newJudge(Scope{}, []uri.URI{uri.MustParse("http://a.example/")})
	for _, path := range []string{"", "other"} {
		n := 0
		for i := range 3 * maxVariants {
			u := uri.MustParse(fmt.Sprintf("http://a.example/%s?page=%d", path, i%(2*maxVariants)))
			if why, _ := j.link(u, canonical(u), 1, 0, meta{}); why == "" {
				n++
			}
		}
		if n != 2*maxVariants { // the first ones, twice
			t.Errorf("/%s: %d links, want %d", path, n, 2*maxVariants)
		}
	}
}
