package mirror_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/mirror"
)

// TestSpeculate checks that strings in scripts are followed only if the option
// is set, that the scope applies to them, and that a URL that does not exist
// does not fail. The second run finds the same URLs in the unchanged scripts.
func TestSpeculate(t *testing.T) {
	t.Parallel()
	site := webSite{
		"/d/":               `<script src="js/app.js"></script><script>load("inline.html")</script>`,
		"/d/js/app.js":      `fetch("data/list.json"); a = "/d/missing"; b = "/outside"; c = "http://b.example/other"; "text/html"`,
		"/d/data/list.json": `{"next": "\/d\/page", "count": "1/2"}`, "/d/page": "", "/d/inline.html": "", "/outside": "",
	}
	for _, c := range []struct {
		name   string
		change func(*mirror.Options)
		want   string
	}{
		{"off", func(*mirror.Options) {}, "/d/ /d/js/app.js"},
		{"on", func(o *mirror.Options) { o.Speculate = true },
			"/d/ /d/data/list.json /d/inline.html /d/js/app.js /d/missing /d/page"},
		{"limited", func(o *mirror.Options) { o.Speculate, o.Limits.Links = true, 1 }, "/d/ /d/data/list.json /d/js/app.js /d/page"},
		{"scope of the host", func(o *mirror.Options) { o.Speculate, o.Scope.Reach = true, mirror.Host },
			"/d/ /d/data/list.json /d/inline.html /d/js/app.js /d/missing /d/page /outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", site)
				o := w.options("http://a.example/d/")
				c.change(&o)
				for nth := range 2 {
					sum := run(t, o)
					want := c.want
					if nth == 1 && c.name == "limited" {
						continue // the second run has more room for new URLs
					}
					if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != want || sum.Failed != 0 {
						t.Errorf("run %d: requests for %s, want %s, %+v", nth+1, got, want, sum)
					}
				}
			})
		})
	}
}
