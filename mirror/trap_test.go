package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// TestForum checks that the default limits include every topic of a forum whose
// topics differ only in the query.
func TestForum(t *testing.T) {
	if testing.Short() {
		t.Skip("sends thousands of requests")
	}
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
	{"random tokens for a few pages", func(n int, r *http.Request) string {
		return fmt.Sprintf(`%s<a href="/%d?ticket=%08x"><a href="/%d?ticket=%08x">`, r.URL.Path, n%5, 2*n, n%3, 2*n+1)
	}, 500, mirror.OverSameText},
	{"random folders", func(n int, r *http.Request) string {
		return fmt.Sprintf(`text<a href="/%08x/page"><a href="/%08x/page"><a href="/%08x/page">`, 3*n, 3*n+1, 3*n+2)
	}, 500, mirror.OverSameText},
	{"path that grows in two ways", func(n int, r *http.Request) string {
		at := strings.TrimSuffix(r.URL.Path, "/")
		return fmt.Sprintf(`<a href="%s/%d">down</a><a href="%s/%d">up</a>`, at, 2*n, at, 2*n+1)
	}, 2000, mirror.OverSameText},
	{"calendar with a path for each month", func(_ int, r *http.Request) string {
		year, month := 0, 0
		fmt.Sscanf(r.URL.Path, "/%d/%d", &year, &month)
		return fmt.Sprintf(`month %d of %d<a href="/%d/%d/"><a href="/%d/%d/">`, month, year, year+1, month, year, month+1)
	}, 2000, mirror.OverChained},
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

// TestGuardInContinuedRun checks that a continued run counts the URLs that a
// guard excluded before the run was interrupted.
func TestGuardInContinuedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": `<a href=/x/x/x/x><a href=1><a href=2><a href=3>`, "/1": "1", "/2": "2", "/3": "3"})
		o := w.options("http://a.example/")
		o.Limits.Files = 2
		if sum, err := mirror.Run(t.Context(), o); err != mirror.ErrLimit || sum.LeftOut[mirror.OverRepeats] != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		o.Limits.Files = 0
		if sum := run(t, o); sum.LeftOut[mirror.OverRepeats] != 1 || sum.Run != 1 {
			t.Errorf("continued: %+v", sum)
		}
		if sum := run(t, o); sum.LeftOut[mirror.OverRepeats] != 1 || sum.Run != 2 {
			t.Errorf("next run: %+v", sum)
		}
	})
}

// TestSessions checks that URLs with different session identifiers are
// requested once, also by a later run.
func TestSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		link     string // link to page %d with session %d
		scope    mirror.Scope
		requests int
	}{
		{"path parameter", "/%d;jsessionid=%d", mirror.Scope{}, 6},
		{"query parameter", "/?page=%d&PHPSESSID=%d", mirror.Scope{}, 6},
		{"ignored parameter", "/%d?ticket=%d", mirror.Scope{IgnoreParameters: []string{"Ticket"}}, 6},
		{"session that is kept", "/%d;jsessionid=%d", mirror.Scope{KeepSessionIDs: true, Depth: 2}, 1 + 5 + 25},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 2)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				n := 0
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					out.Header().Set("Content-Type", mediaOf(r.URL.Path))
					for page := range 5 {
						n++
						fmt.Fprintf(out, `<a href="`+c.link+`">`, page, n)
					}
				}))
				o := w.options("http://a.example/")
				o.Scope = c.scope
				for range 2 {
					w.requests()
					sum := run(t, o)
					if len(w.requested) != c.requests || sum.LeftOut.Total() != 0 || sum.SessionLinks == 0 != c.scope.KeepSessionIDs {
						t.Errorf("%d requests, want %d: %+v", len(w.requested), c.requests, sum)
					}
					if c.scope.KeepSessionIDs {
						return // the next run has other URLs
					}
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestSessionRedirect checks that a redirect that only adds a session
// identifier is followed.
func TestSessionRedirect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": "-> /;jsessionid=1", "/;jsessionid=1": "the page <a href=in>", "/in": "in"})
		o := w.options("http://a.example/")
		for range 2 {
			sum := run(t, o)
			if got := w.requests(); got != "http://a.example/ http://a.example/;jsessionid=1 http://a.example/in" {
				t.Errorf("requests for %s: %+v", got, sum)
			}
		}
		if files := tree(t, o.Dir, "http/a.example"); !strings.Contains(fmt.Sprint(files), "the page") {
			t.Errorf("the page is missing: %v", files)
		}
		checkVerify(t, o.Dir)
	})
}

// TestTraps checks that the mirror of each trap ends and reports the guard. Its
// limits are a tenth of the default limits or less.
func TestTraps(t *testing.T) {
	if testing.Short() {
		t.Skip("sends thousands of requests")
	}
	t.Parallel()
	for _, c := range traps {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, mirror.Limits{Queries: 400, Chained: 300, DeepPaths: 100, Sitemaps: 100, SameText: 900})
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
