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

// endlessSite is a site with an unlimited number of pages.
type endlessSite struct {
	name  string
	page  func(r *http.Request) string
	limit int    // maximum number of requests
	note  string // note of an excluded URL
}

// TestEndlessSites checks that the mirror of an endless site ends.
func TestEndlessSites(t *testing.T) {
	t.Parallel()
	for _, c := range []endlessSite{
		{"folder that contains itself", func(r *http.Request) string { return `<a href="a/">` }, 5, "a segment repeats too often in the path"},
		{"two folders that contain each other", func(r *http.Request) string { return `<a href="a/"><a href="b/">` }, 130, "a segment repeats too often in the path"},
		{"folder below each file", func(r *http.Request) string { return `<a href="` + strings.TrimSuffix(r.URL.Path, "/") + `/x">` }, 5, "a segment repeats too often in the path"},
		{"URL of 9 KiB", func(r *http.Request) string { return `<a href="/` + strings.Repeat("y", 9<<10) + `">` }, 1, ""},
		{"growing query", func(r *http.Request) string { return `<a href="?` + r.URL.RawQuery + strings.Repeat("z", 500) + `">` }, 20, ""},
	} {
		t.Run(c.name, c.test)
	}
}

func (c endlessSite) test(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
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
		if sum := run(t, o); len(w.requested) > c.limit || sum.Pending > 0 {
			t.Errorf("%d requests, want at most %d: %+v", len(w.requested), c.limit, sum)
		}
		told := c.note == ""
		for _, e := range events(t, o.Dir) {
			told = told || e.State == "excluded" && e.Note == c.note
		}
		if !told {
			t.Errorf("missing event: %s", c.note)
		}
	})
}

// listingLinks is the number of links on the page of TestLargeListing.
var listingLinks = 5_000

// TestLargeListing checks that a page with very many links needs little memory.
func TestLargeListing(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large page")
	}
	w := newNetwork(t)
	w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			return
		}
		for i := range listingLinks {
			fmt.Fprintf(out, "<a href=\"some/folder/number/%d/page.html\">%d</a>\n", i, i)
		}
	}))
	o := w.options("http://a.example/")
	o.WARC, o.Limits.Files, o.Limits.Links = nil, 200, int64(listingLinks)
	peak := watchHeap(t)
	if _, err := mirror.Run(t.Context(), o); !errors.Is(err, mirror.ErrLimit) {
		t.Error(err)
	}
	s, err := mirror.Open(mirror.Location{Dir: o.Dir}).Status(t.Context())
	if err != nil || s.URLs < int64(listingLinks) {
		t.Errorf("%d URLs in the database, %v", s.URLs, err)
	}
	peak(t, 64<<20)
}

// watchHeap returns a function that fails the test if the heap has grown by
// more than limit bytes since. Garbage of earlier tests does not count.
func watchHeap(t testing.TB) func(t testing.TB, most uint64) {
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
			t.Errorf("the heap took %d bytes, want at most %d", grown, most)
		}
	}
}
