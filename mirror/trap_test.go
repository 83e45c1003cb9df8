package mirror_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/mirror"
)

// trap is a site without an end.
type trap struct {
	name string
	page func(r *http.Request) string
	most int    // requests
	told string // why it ended
}

// calendar has a next page on each.
var calendar = trap{"a calendar", func(r *http.Request) string {
	n := 0
	fmt.Sscanf(r.FormValue("page"), "%d", &n)
	return fmt.Sprintf(`<a href="?page=%d">next</a>`, n+1)
}, 1100, "too many queries for one path"}

// TestTraps: sites without an end end.
func TestTraps(t *testing.T) {
	t.Parallel()
	for _, c := range []trap{
		{"a folder within itself", func(r *http.Request) string { return `<a href="a/">` }, 5, "a segment repeats too often in the path"},
		{"two folders within each other", func(r *http.Request) string { return `<a href="a/"><a href="b/">` }, 130, "a segment repeats too often in the path"},
		{"a folder below each file", func(r *http.Request) string { return `<a href="` + strings.TrimSuffix(r.URL.Path, "/") + `/x">` }, 5, "a segment repeats too often in the path"},
		{"a URL of 9 KiB", func(r *http.Request) string { return `<a href="/` + strings.Repeat("y", 9<<10) + `">` }, 1, ""},
		{"a query that grows", func(r *http.Request) string { return `<a href="?` + r.URL.RawQuery + strings.Repeat("z", 500) + `">` }, 20, ""},
	} {
		t.Run(c.name, c.test)
	}
}

func (c trap) test(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(out, r)
				return
			}
			out.Header().Set("Content-Type", "text/html")
			io.WriteString(out, c.page(r))
		}))
		o := w.options("http://a.example/")
		o.WARC = nil
		if sum := run(t, o); len(w.asked) > c.most || sum.Pending > 0 {
			t.Errorf("%d requests, want %d at the most: %+v", len(w.asked), c.most, sum)
		}
		told := c.told == ""
		for _, e := range events(t, o.Dir) {
			told = told || e.State == "excluded" && e.Note == c.told
		}
		if !told {
			t.Errorf("nobody was told: %s", c.told)
		}
	})
}

// listed is how many links the page of TestLargeListing has.
var listed = 5_000

// TestLargeListing: a page of very many links, in little memory.
func TestLargeListing(t *testing.T) {
	w := newWorld(t)
	w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			return
		}
		for i := range listed {
			fmt.Fprintf(out, "<a href=\"some/folder/number/%d/page.html\">%d</a>\n", i, i)
		}
	}))
	o := w.options("http://a.example/")
	o.WARC, o.Limits.Files = nil, 200
	peak := watch(t)
	if _, err := mirror.Run(t.Context(), o); !errors.Is(err, mirror.ErrLimit) {
		t.Error(err)
	}
	s, err := mirror.Status(t.Context(), o.Dir)
	if err != nil || s.URLs < int64(listed) {
		t.Errorf("%d URLs are known, %v", s.URLs, err)
	}
	peak(t, 64<<20)
}

// watch tells whether the heap has grown by more than that many bytes since. What
// earlier tests had and gave back is no growth.
func watch(t testing.TB) func(t testing.TB, most uint64) {
	var before runtime.MemStats
	debug.FreeOSMemory()
	runtime.ReadMemStats(&before)
	return func(t testing.TB, most uint64) {
		t.Helper()
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		held := after.HeapSys - after.HeapReleased
		grown := held - min(before.HeapSys-before.HeapReleased, held)
		t.Logf("the heap took %d MiB", grown>>20)
		if grown > most {
			t.Errorf("the heap took %d bytes, want %d at the most", grown, most)
		}
	}
}
