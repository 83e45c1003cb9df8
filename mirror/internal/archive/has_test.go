package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// TestCheckFree checks that the error of a full disk names the right condition.
func TestCheckFree(t *testing.T) {
	t.Parallel()
	const lots = 1 << 62
	for _, c := range []struct {
		name          string
		minFree, more int64
		want          string // part of the error, or ""
	}{
		{"no limit", 0, 0, ""},
		{"negative limit", -lots, 0, ""},
		{"negative limit, and more bytes", -lots, lots, "visits continue when"},
		{"few bytes", 1, 1, ""},
		{"limit", lots, 0, "are required"},
		{"more bytes", 0, lots, "visits continue when"},
		{"limit and more bytes", lots / 2, lots / 2, "visits continue when"},
	} {
		a := openArchive(t, t.TempDir(), Options{WARC: &warc.Options{Now: time.Now}, MinFree: c.minFree, Now: time.Now})
		err := a.CheckFree(c.more)
		if c.more == 0 {
			err = a.CheckSpace()
		}
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, fetch.DiskFull) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		a.Close()
	}
}

// TestHas checks which captures are in the archive, for each form of an archive
// and each damage of the file in the tree.
func TestHas(t *testing.T) {
	t.Parallel()
	none := func(*frontier.Capture, string) error { return nil }
	both := Options{Tree: true, WARC: &warc.Options{}}
	records := Options{WARC: &warc.Options{}}
	recheck := Options{Tree: true, WARC: &warc.Options{}, Recheck: true}
	for _, c := range []struct {
		name    string
		options Options
		change  func(c *frontier.Capture, file string) error // file is the path in the tree
		has     bool
		lacks   bool // whether the file is missing or damaged
	}{
		{"tree", Options{Tree: true}, none, true, false},
		{"records", records, none, true, false},
		{"both", both, none, true, false},
		{"both, with Recheck", recheck, none, true, false},
		{"objects are discarded", Options{Discard: true}, none, false, false},
		{"missing file", both, func(_ *frontier.Capture, file string) error { return os.Remove(file) }, false, true},
		{"missing file, only in the tree", Options{Tree: true}, func(_ *frontier.Capture, file string) error { return os.Remove(file) }, false, true},
		{"longer file", both, func(_ *frontier.Capture, file string) error { return grow(file, "x") }, false, true},
		{"longer file, with Recheck", recheck, func(_ *frontier.Capture, file string) error { return grow(file, "x") }, false, true},
		{"changed file", both, func(_ *frontier.Capture, file string) error { return flip(file, 3) }, true, false},
		{"changed file, with Recheck", recheck, func(_ *frontier.Capture, file string) error { return flip(file, 3) }, false, true},
		{"missing file, with Recheck", recheck, func(_ *frontier.Capture, file string) error { return os.Remove(file) }, false, true},
		{"no path", both, func(c *frontier.Capture, _ string) error { c.Path = ""; return nil }, false, false},
		{"no path in an archive of records", records, func(c *frontier.Capture, _ string) error { c.Path = ""; return nil }, true, false},
		{"redirect without a path", both, func(c *frontier.Capture, _ string) error { c.Path, c.Code = "", 301; return nil }, true, false},
		{"redirect with a path", both, func(c *frontier.Capture, file string) error { c.Code = 301; return os.Remove(file) }, false, true},
		{"no record", both, func(c *frontier.Capture, _ string) error { c.ID = ""; return nil }, false, false},
		{"lost record", both, func(c *frontier.Capture, _ string) error { c.File = ""; return nil }, false, false},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		c.options.Now = time.Now
		a := openArchive(t, dir, c.options)
		l := claimItems(t, a, "http://a.example/one")
		capture := visit(t, a, l, l.Items[0], body)
		if err := c.change(&capture, filepath.Join(dir, "tree/http/a.example/one")); err != nil {
			t.Fatal(err)
		}
		if got := a.Has(&capture); got != c.has {
			t.Errorf("%s: has: %t, want %t", c.name, got, c.has)
		}
		if got := a.LacksFile(&capture); got != c.lacks {
			t.Errorf("%s: lacks the file: %t, want %t", c.name, got, c.lacks)
		}
		closeArchive(t, a)
	}
}
