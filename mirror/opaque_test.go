package mirror

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestOpaqueSeed checks which URLs are below a seed without slashes.
func TestOpaqueSeed(t *testing.T) {
	echo := fetch.FuncScheme("echo", nil)
	scheme := func(name string) fetch.Scheme {
		if name == "echo" {
			return echo
		}
		return new(fetch.Client).Scheme(name)
	}
	for _, c := range []struct {
		seed, url string
		below     bool
	}{
		{"echo:one", "echo:two", true},
		{"echo:one", "echo:two/three", true},
		{"echo:one", "echoes:two", false},
		{"echo:one", "http://a.example/", false},
		{"echo:one", "file:///etc/passwd", false},
		{"echo:a/b", "echo:a/c", true},
		{"echo:a/b", "echo:c", false},
	} {
		b := newScopeFilter(Scope{}, Limits{}, scheme, []uri.URI{uri.MustParse(c.seed)})
		u := uri.MustParse(c.url)
		if reason, _ := b.checkLink(u, u.Unredacted(), 1, 0, meta{}); (reason == "") != c.below {
			t.Errorf("%s from %s: %q", c.url, c.seed, reason)
		}
	}
}
