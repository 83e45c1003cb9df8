package render

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/uri"
)

// TestMemory writes pages of listings with long names and references. The memory
// must not depend on the size of the listing.
func TestMemory(t *testing.T) {
	long := strings.Repeat("x", 3000)
	for name, c := range map[string]struct {
		order  string
		number int
		entry  func(n int) fetch.Entry
	}{
		"last page":    {"", 20, func(n int) fetch.Entry { return info(fmt.Sprint(n, long)) }},
		"sorted":       {"-name", 1, func(n int) fetch.Entry { return file(fmt.Sprint(n, long), 1, 1) }},
		"long threads": {"", 1, func(n int) fetch.Entry { return article(fmt.Sprint(n, "@h"), long, fmt.Sprintf("<%d@h>", n-1)) }},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 3)
			var most, before runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			v := newView("news://h/g", "text/x-list", "")
			v.Order, _ = ParseOrder(c.order)
			v.Number = c.number
			v.Scheme.Menu = func(uri.URI, string, io.Reader) iter.Seq2[fetch.Entry, error] {
				return func(yield func(fetch.Entry, error) bool) {
					for n := range 20_000 {
						if n%200 == 0 {
							var now runtime.MemStats
							runtime.GC()
							runtime.ReadMemStats(&now)
							most.HeapAlloc = max(most.HeapAlloc, now.HeapAlloc)
						}
						if !yield(c.entry(n), nil) {
							return
						}
					}
				}
			}
			if err := v.Write(t.Context(), io.Discard); err != nil {
				t.Fatal(err)
			}
			if used := int64(most.HeapAlloc) - int64(before.HeapAlloc); used > 24<<20 {
				t.Errorf("the page needs %d bytes", used)
			}
		})
	}
}

// TestCircles checks a group whose references form many circles.
func TestCircles(t *testing.T) {
	var entries []fetch.Entry
	for n := range maxSorted {
		refs := ""
		for k := range maxReferences {
			refs += fmt.Sprintf("<%d@h> ", (n+k+1)%maxSorted)
		}
		entries = append(entries, article(fmt.Sprintf("%d@h", n), "A", refs))
	}
	page := newView("news://h/g", "text/x-nntp-overview", "", entries...).page(t)
	if got := strings.Count(page, "<li>"); got != maxSorted {
		t.Errorf("%d articles", got)
	}
}

// FuzzThreads checks that threads contain each article once, and that lists are
// closed.
func FuzzThreads(f *testing.F) {
	f.Add("a:b b:a c:a")
	f.Add("a: b:a c:b d:a e:z")
	f.Fuzz(func(t *testing.T, text string) {
		var entries []fetch.Entry
		for word := range strings.FieldsSeq(text) {
			id, refs, _ := strings.Cut(word, ":")
			e := article("0@h", id, strings.ReplaceAll(refs, ",", " "))
			e.Extra["message_id"] = id
			entries = append(entries, e)
		}
		if len(entries) == 0 || len(entries) > maxSorted {
			return
		}
		page := newView("news://h/g", "text/x-nntp-overview", "", entries...).page(t)
		_, list, threaded := strings.Cut(page, `<ul class="threads">`)
		if !threaded {
			return
		}
		if strings.Count(list, "<li>") != len(entries) || strings.Count(list, "</li>") != len(entries) {
			t.Errorf("articles are missing in\n%s", list)
		}
		if strings.Count(list, "<ul>")+1 != strings.Count(list, "</ul>") {
			t.Errorf("lists are not closed in\n%s", list)
		}
	})
}
