package mirror_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// linkPage returns a handler that sends a page of n links for "/".
func linkPage(n int64) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/html")
		for i := range n {
			fmt.Fprintf(out, "<a href=%d>", i)
		}
	})
}

// floodLinks is the number of links on the page of TestFlood.
var floodLinks int64 = 120_000

// TestFlood checks that a page with very many links adds a limited number of
// URLs.
func TestFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large page")
	}
	w := newNetwork(t)
	w.web("a.example", linkPage(floodLinks))
	o := w.options("http://a.example/")
	o.WARC, o.Limits.Files = nil, 1
	peak := watchHeap(t)
	sum, err := mirror.Run(t.Context(), o)
	// The robots.txt is pending too.
	if err != mirror.ErrLimit || sum.LeftOut[mirror.OverLinks] != floodLinks-mirror.DefaultLimits().Links || sum.Pending != mirror.DefaultLimits().Links+1 {
		t.Errorf("%+v, %v", sum, err)
	}
	if e := outcome(t, o.Dir, "http://a.example/"); e.Note != fmt.Sprintf("%d links beyond the limit of 10000 were omitted", floodLinks-mirror.DefaultLimits().Links) {
		t.Errorf("%+v", e)
	}
	size := int64(0)
	for _, name := range []string{"fetch.db", "fetch.db-wal", "crawl.jsonl"} {
		if info, err := os.Stat(filepath.Join(o.Dir, name)); err == nil {
			size += info.Size()
		}
	}
	if size > 8<<20 {
		t.Errorf("the archive has %d bytes besides the page", size)
	}
	peak(t, 64<<20)
}

// TestFloods checks the limits for pages, listings, sitemaps and hosts.
func TestFloods(t *testing.T) {
	t.Parallel()
	links := func(n int, format string) (text string) {
		for i := range n {
			text += fmt.Sprintf(format, i)
		}
		return text
	}
	index := "<html><head><title>Index of /</title></head><body><h1>Index of /</h1><hr><pre><a href=\"../\">../</a>\n" +
		links(700, "<a href=\"%03d\">%[1]03d</a>                 20-Nov-2026 10:00       1\n") + "</pre><hr></body></html>"
	for _, c := range []struct {
		name   string
		site   webSite
		limits mirror.Limits
		want   mirror.LeftOut
	}{
		{"page", webSite{"/": links(700, "<a href=%d>")}, mirror.Limits{Links: 600}, mirror.LeftOut{mirror.OverLinks: 100}},
		{"page with repeated links", webSite{"/": links(300, "<a href=%d><a href=%[1]d>") + links(300, "<a href=%d>")}, mirror.Limits{Links: 300}, mirror.LeftOut{}},
		{"page with a long base URL", webSite{"/": `<base href="/` + strings.Repeat("y", 7000) + `/">` + links(700, "<a href=%d>")},
			mirror.Limits{Links: 650}, mirror.LeftOut{mirror.OverLinks: 700 - (1<<20+650*400)/7022}},
		{"page without a limit", webSite{"/": links(700, "<a href=%d>")}, mirror.Limits{Links: -1, Queue: -1}, mirror.LeftOut{}},
		{"page with a limit for listings", webSite{"/": links(700, "<a href=%d>")}, mirror.Limits{Entries: 600}, mirror.LeftOut{}},
		{"listing", webSite{"/": index}, mirror.Limits{Entries: 600}, mirror.LeftOut{mirror.OverEntries: 100}},
		{"listing with a limit for pages", webSite{"/": index}, mirror.Limits{Links: 600}, mirror.LeftOut{}},
		{"sitemap", webSite{"/": "", "/robots.txt": "Sitemap: /map.xml\n", "/map.xml": "<urlset>" + links(700, "<url><loc>http://a.example/%d</loc></url>") + "</urlset>"},
			mirror.Limits{Entries: 600, Links: 10}, mirror.LeftOut{mirror.OverEntries: 100}},
		{"host", webSite{"/": links(700, "<a href=%d>")}, mirror.Limits{Queue: 600}, mirror.LeftOut{mirror.OverQueue: 101}}, // robots.txt is pending too
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", c.site)
				o := w.options("http://a.example/")
				o.WARC, o.Limits = nil, c.limits
				sum := run(t, o)
				if sum.LeftOut != c.want {
					t.Errorf("%+v", sum)
				}
			})
		})
	}
}

// TestArticlesLeftOut checks that the next run lists the articles beyond the
// limit again and adds more of them.
func TestArticlesLeftOut(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]mirror.Limits{"entries": {Entries: 4}, "queue": {Queue: 4}} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 2)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				g := &newsgroup{high: 9}
				o := w.news(g)
				o.Limits = limits
				for had := 0; had < 9; {
					sum, now := run(t, o), articles(t, o.Dir)
					if now <= had || now > had+4 {
						t.Fatalf("%d articles, %d before: %+v", now, had, sum)
					}
					had = now
				}
				g.asked = 0
				if run(t, o); g.asked != 0 || articles(t, o.Dir) != 9 {
					t.Errorf("%d requests for articles, %d articles in the tree", g.asked, articles(t, o.Dir))
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestDepthZero checks that a negative depth selects only the seeds and the
// targets of their redirects.
func TestDepthZero(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		requisites bool
		want       string
	}{
		{"seeds only", false, "http://a.example/ http://a.example/new http://a.example/old"},
		{"seeds and requisites", true, "http://a.example/ http://a.example/i.png http://a.example/new http://a.example/old"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			w.web("a.example", webSite{"/": `<a href=1><img src=i.png>`, "/1": "1", "/i.png": "i", "/old": "-> /new", "/new": `<a href=1>`,
				"/robots.txt": "Sitemap: /map.xml\n", "/map.xml": "<urlset></urlset>"})
			o := w.options("http://a.example/", "http://a.example/old")
			o.Scope.Depth, o.Scope.Requisites = -1, c.requisites
			for range 2 {
				run(t, o)
				if got := w.requests(); got != c.want {
					t.Errorf("%s: requests for %s", c.name, got)
				}
			}
			if strings.Contains(outcomes(t, o.Dir), "map.xml") {
				t.Error("a sitemap extends the scope")
			}
		})
	}
}
