package autoindex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestListingPrefixes checks that each prefix of a listing is a listing or
// may become one.
func TestListingPrefixes(t *testing.T) {
	files, _ := filepath.Glob("../../../schemes/http/testdata/autoindex/*.html")
	if len(files) == 0 {
		t.Fatal("no listings in testdata")
	}
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := uri.MustParse("http://h/")
		switch strings.TrimSuffix(filepath.Base(file), ".html") {
		case "iis", "busybox", "thttpd":
			dir = uri.MustParse("http://h/x/")
		}
		step := max(1, len(page)/500)
		for n := 0; n < len(page); n += step {
			if listing, more := IsListing(dir, page[:n], false); !listing && !more {
				t.Errorf("%s: rejected after %d bytes: %q", file, n, page[max(0, n-60):n])
				break
			}
		}
		if listing, more := IsListing(dir, page, true); !listing || more {
			t.Errorf("%s: got listing %v, more %v", file, listing, more)
		}
	}
}

func FuzzIs(f *testing.F) {
	f.Add("<title>Index of /</title><pre><a href='a'>a</a> 2026-01-02 03:04 5\n", true)
	f.Add("<h1>h - /d/</h1><table><tr><td data-size=5><a href=b>b<time datetime=2026-01-02T03:04:05Z></table>", false)
	f.Fuzz(func(t *testing.T, page string, complete bool) {
		if _, more := IsListing(uri.MustParse("http://h/d/"), []byte(page), complete); more && complete {
			t.Error("more is true for a complete page")
		}
	})
}
