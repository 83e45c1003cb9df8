package metalink

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestMemory parses documents that need many times their bytes in memory.
func TestMemory(t *testing.T) {
	long := uri.MustParse("http://a.example/" + strings.Repeat("x", 60_000) + "/list")
	var urls strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&urls, "<url>%d</url>", i)
	}
	oneFile := `<file name="f">` + urls.String() + "</file>"
	for _, c := range []struct {
		name, text string
		base       uri.URI
		max        uint64 // bytes
		want       error
	}{
		{"millions of attributes", "<metalink " + strings.Repeat(`a=""`, (MaxDocument-100)/4) + "></metalink>", base, 10 * MaxDocument, fetch.TooLarge},
		{"empty files", "<metalink>" + strings.Repeat("<file/>", maxTags-10) + "</metalink>", base, 2 * MaxDocument, fetch.TooLarge},
		{"references to a long base", "<metalink>" + oneFile + "</metalink>", long, 8 * maxURLs, nil},
		{"many files with references to a long base", "<metalink>" + strings.Repeat(oneFile, 10) + "</metalink>", long, 12 * maxURLs, fetch.TooLarge},
		{"equal references to a long base", `<metalink><file name="f">` + strings.Repeat("<url>1</url>", 10_000) + "</file></metalink>", long, 12 * maxURLs, fetch.TooLarge},
	} {
		if _, used, err := parsed(c.text, c.base); !errors.Is(err, c.want) || used > c.max {
			t.Errorf("%s: %d MiB allocated: %v", c.name, used>>20, err)
		}
	}
	links := fetch.Header{{Name: "Link", Value: strings.Repeat("<1>;rel=duplicate,", 10*MaxMirrors)}}
	used := allocated(func() { FromHeader(long, links) })
	if used > 8*maxURLs {
		t.Errorf("a header: %d MiB allocated", used>>20)
	}
}

// parsed parses a document, and returns the number of bytes that were allocated.
func parsed(text string, base uri.URI) (files []File, used uint64, err error) {
	used = allocated(func() { files, err = Parse(strings.NewReader(text), base) })
	return files, used, err
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
