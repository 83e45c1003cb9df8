//go:build linux

package mirrorcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestLostObjects removes objects from the store of a complete crawl. A run with
// --recheck must retrieve exactly the lost pages again.
func TestLostObjects(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 1, 20)
	c.size, c.flags = "2k", []string{"--again"}
	w := c.one()
	next := func(code int, stderr string, more ...string) (pages int) {
		t.Helper()
		before := c.record()
		if e := commandtest.Exec(t, w.withArgs(more...)); e.Code != code || !strings.Contains(e.Stderr, stderr) {
			t.Errorf("%q: %v", more, e)
		}
		after := c.record()
		for n := range c.pages {
			pages += after.visits[c.url(0, n)] - before.visits[c.url(0, n)]
		}
		return pages - (after.notMod - before.notMod)
	}
	if n := next(0, ""); n != c.pages {
		t.Fatalf("%d pages", n)
	}
	files := glob(c.stored, "*.warc.gz")
	if len(files) < 3 {
		t.Fatalf("files %q", files)
	}
	os.Remove(filepath.Join(c.stored, files[0]))
	if n := next(0, "", "--recheck", "--max-lost", "100%"); n == 0 || n > c.pages/2 {
		t.Errorf("%d pages were retrieved again after the loss of one of %d files", n, len(files))
	}
	if n := next(0, ""); n != 0 {
		t.Errorf("%d pages were retrieved again without a loss", n)
	}
	c.verify(t)
	for _, name := range glob(c.stored, "*.warc.gz") {
		os.Remove(filepath.Join(c.stored, name))
	}
	next(3, "a file system may not be mounted")
	next(3, "too many WARC records are missing", "--recheck")
	if n := next(0, "", "--recheck", "--max-lost", "100%"); n != c.pages {
		t.Errorf("%d pages were retrieved again after the loss of all files", n)
	}
	c.check(t)
}
