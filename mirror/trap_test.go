package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/mirror"
)

// TestForum checks that the default limits include every topic of a forum whose
// topics differ only in the query.
func TestForum(t *testing.T) {
	t.Parallel()
	const topics, perPage = 3000, 25
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			first := 0
			fmt.Sscan(r.FormValue("start"), &first)
			switch r.URL.Path {
			case "/robots.txt":
				http.NotFound(out, r)
			case "/viewtopic.php":
				fmt.Fprintf(out, "topic %s", r.FormValue("t"))
			default:
				for i := first; i < min(first+perPage, topics); i++ {
					fmt.Fprintf(out, `<a href="/viewtopic.php?t=%d">`, i)
				}
				if first += perPage; first < topics {
					fmt.Fprintf(out, `<a href="/viewforum.php?start=%d">`, first)
				}
			}
		}))
		o := w.options("http://a.example/")
		o.WARC = nil
		if sum := run(t, o); sum.New != topics+topics/perPage || sum.LeftOut.Total() != 0 {
			t.Errorf("%+v", sum)
		}
	})
}

// A trap is a site with an unlimited number of URLs.
type trap struct {
	name  string
	page  func(n int, r *http.Request) string // response to request n
	limit int                                 // maximum number of requests
	guard mirror.Guard                        // guard that ends the run
}

// traps have sites for which the mirror needs a guard.
var traps = []trap{
	{"calendar", func(_ int, r *http.Request) string {
		n := 0
		fmt.Sscan(r.FormValue("month"), &n)
		return fmt.Sprintf(`<a href="/?month=%d"><a href="/?month=%d">`, n-1, n+1)
	}, 500, mirror.OverChained},
	{"new queries on each page", func(n int, r *http.Request) string {
		return fmt.Sprintf(`<a href="/?token=%d"><a href="/?token=%d">`, 2*n, 2*n+1)
	}, 500, mirror.OverQueries},
	{"path that grows", func(n int, r *http.Request) string {
		return fmt.Sprintf(`<a href="%s/%d">`, strings.TrimSuffix(r.URL.Path, "/"), n)
	}, 500, mirror.OverDeepPaths},
	{"URL that grows", func(_ int, r *http.Request) string {
		return `<a href="?` + r.URL.RawQuery + strings.Repeat("z", 500) + `">`
	}, 500, mirror.OverURLBytes},
	{"folder that contains itself", func(int, *http.Request) string { return `<a href="a/">` }, 500, mirror.OverRepeats},
	{"sitemap index that names new indexes", func(n int, r *http.Request) string {
		switch {
		case r.URL.Path == "/robots.txt":
			return "Sitemap: /map.xml\n"
		case !strings.HasSuffix(r.URL.Path, ".xml"):
			return ""
		}
		text := "<sitemapindex>"
		for i := range 50 {
			text += fmt.Sprintf("<sitemap><loc>http://a.example/%d-%d.xml</loc></sitemap>", n, i)
		}
		return text + "</sitemapindex>"
	}, 500, mirror.OverSitemaps},
}

// TestTraps checks that the mirror of each trap ends and reports the guard. Its
// limits are a tenth of the default limits or less.
func TestTraps(t *testing.T) {
	t.Parallel()
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, mirror.Limits{Queries: 400, Chained: 300, DeepPaths: 100, Sitemaps: 100})
		})
	}
}

func (c trap) test(t *testing.T, limits mirror.Limits) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		n := 0
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			n++ // one connection, so one request at a time
			out.Header().Set("Content-Type", mediaOf(r.URL.Path))
			io.WriteString(out, c.page(n, r))
		}))
		o := w.options("http://a.example/")
		o.WARC, o.Limits = nil, limits
		sum := run(t, o)
		if len(w.requested) > c.limit || sum.Pending > 0 || sum.LeftOut[c.guard] == 0 {
			t.Errorf("%d requests, want at most %d: %+v", len(w.requested), c.limit, sum)
		}
		reported := false
		for _, e := range events(t, o.Dir) {
			reported = reported || e.State == "guard" && e.Guard == c.guard.String() && e.Omitted == sum.LeftOut[c.guard]
		}
		if !reported {
			t.Errorf("crawl.jsonl has no line for the guard %s", c.guard)
		}
	})
}
