package mirror_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// heal calls mirror.Heal and returns the repaired paths.
func heal(t *testing.T, dir string, o mirror.HealOptions) (paths []string, requeued int64) {
	t.Helper()
	o.Report = func(f mirror.Finding) { paths = append(paths, f.Path) }
	requeued, err := mirror.Heal(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return paths, requeued
}

// TestHeal checks that Heal repairs each kind of damage, and that a run
// retrieves only the lost objects.
func TestHeal(t *testing.T) {
	t.Parallel()
	const page = "http://a.example/5"
	for _, c := range []struct {
		name     string
		damage   func(t *testing.T, dir string)
		requeued int64
		kind     string // directory of the repaired files, or ""
	}{
		{"nothing", func(*testing.T, string) {}, 0, ""},
		{"record", func(t *testing.T, dir string) {
			path, at := placeOf(t, dir, page)
			flipAt(t, path, at+300)
		}, 1, "warc"},
		{"request record", func(t *testing.T, dir string) {
			path, _ := placeOf(t, dir, page)
			flipAt(t, path, int64(len(content(t, path))-50))
		}, 0, "warc"},
		{"warcinfo record", func(t *testing.T, dir string) {
			path, _ := placeOf(t, dir, page)
			flipAt(t, path, 40)
		}, 0, "warc"},
		{"byte without meaning in a WARC file", func(t *testing.T, dir string) {
			path, at := placeOf(t, dir, page)
			flipAt(t, path, at+9) // operating system in the gzip header
		}, 0, "warc"},
		{"original of a revisit record", func(t *testing.T, dir string) {
			path, at := placeOf(t, dir, "http://a.example/copy")
			flipAt(t, path, at+300)
		}, 2, "warc"},
		{"large record", func(t *testing.T, dir string) {
			path, at := placeOf(t, dir, "http://a.example/large")
			flipAt(t, path, at+100_000)
		}, 1, "warc"},
		{"complete WARC file", func(t *testing.T, dir string) {
			path, _ := placeOf(t, dir, page)
			if err := os.WriteFile(path, []byte(strings.Repeat("junk", 100)), 0o666); err != nil {
				t.Fatal(err)
			}
		}, 1, "warc"},
		{"truncated unfinished WARC file", func(t *testing.T, dir string) {
			path, _ := placeOf(t, dir, page)
			size := int64(len(content(t, path)))
			if err := errors.Join(os.Truncate(path, size-10), os.Rename(path, path+warc.OpenSuffix)); err != nil {
				t.Fatal(err)
			}
		}, 0, "warc"},
		{"file in the tree", func(t *testing.T, dir string) {
			flipAt(t, filepath.Join(dir, "tree/http/a.example/5"), 77)
		}, 0, "tree"},
		{"missing file in the tree", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "tree/http/a.example/copy")); err != nil {
				t.Fatal(err)
			}
		}, 0, "tree"},
		{"complete tree", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "tree")); err != nil {
				t.Fatal(err)
			}
		}, 0, "tree"},
		{"names of two WARC files", func(t *testing.T, dir string) { swapWARC(t, dir, page, "http://a.example/3", "") }, 0, "warc"},
		{"file in the tree and its record", func(t *testing.T, dir string) {
			flipAt(t, filepath.Join(dir, "tree/http/a.example/5"), 77)
			path, at := placeOf(t, dir, page)
			flipAt(t, path, at+300)
		}, 1, "warc tree"},
		{"journal", func(t *testing.T, dir string) { flipAt(t, filepath.Join(dir, "crawl.jsonl"), 200) }, 0, "crawl.jsonl"},
		{"report", func(t *testing.T, dir string) { flipAt(t, filepath.Join(dir, "report.json"), 20) }, 0, "report.json"},
		{"index", func(t *testing.T, dir string) { flipAt(t, filepath.Join(dir, "index/all.cdxj"), 20) }, 0, ""},
		{"manifest", func(t *testing.T, dir string) { flipAt(t, filepath.Join(dir, "manifest-sha256.txt"), 20) }, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			if testing.Short() && c.requeued == 0 {
				t.Skip("with -short, only damage that needs requests")
			}
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newTaggedArchive(t)
				c.damage(t, o.Dir)
				if c.name != "nothing" && !reportsDamage(t, o.Dir) {
					t.Error("the damage is not reported")
				}
				paths, requeued := heal(t, o.Dir, mirror.HealOptions{})
				if got := kindsOf(paths); got != c.kind || requeued != c.requeued {
					t.Errorf("repaired %q, requeued %d; want %q, %d", paths, requeued, c.kind, c.requeued)
				}
				for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(t.Context()) {
					if err == nil && !f.Note || err != nil && (!errors.Is(err, mirror.ErrIncomplete) || requeued == 0) {
						t.Errorf("verify after Heal: %v, %v", f, err)
					}
				}
				if sum := run(t, o); sum.Repaired != c.requeued || sum.New != 0 || s.notModified != len(s.webSite)-int(c.requeued) {
					t.Errorf("the run after Heal: %d not modified, %+v", s.notModified, sum)
				}
				checkVerify(t, o.Dir)
				checkRevisits(t, o.Dir)
				if paths, requeued := heal(t, o.Dir, mirror.HealOptions{}); len(paths) != 0 || requeued != 0 {
					t.Errorf("healed again: %q, %d", paths, requeued)
				}
			})
		})
	}
}

// kindsOf returns the first elements of the paths without duplicates.
func kindsOf(paths []string) string {
	var kinds []string
	for _, p := range paths {
		kind, _, _ := strings.Cut(p, "/")
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

// TestRequeueDamaged checks that Heal with RequeueOnly copies no records, and
// that the next run retrieves the damaged objects.
func TestRequeueDamaged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newTaggedArchive(t)
		path, at := placeOf(t, o.Dir, "http://a.example/large")
		flipAt(t, path, at+100_000)
		before := len(warcs(t, o.Dir))
		if paths, requeued := heal(t, o.Dir, mirror.HealOptions{RequeueOnly: true}); requeued != 1 || len(warcs(t, o.Dir)) != before {
			t.Errorf("requeued %d, repaired %q", requeued, paths)
		}
		if sum := run(t, o); sum.Repaired != 1 || s.notModified != len(s.webSite)-1 {
			t.Errorf("%+v", sum)
		}
	})
}

// TestRecoverHealed checks that Recover finds the records that Heal has copied.
// They are neither lost nor unlogged.
func TestRecoverHealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newTaggedArchive(t)
		for _, page := range []string{"5", "copy"} {
			path, at := placeOf(t, o.Dir, "http://a.example/"+page)
			flipAt(t, path, at-20) // in the warcinfo record
		}
		objects := len(s.webSite)
		if paths, _ := heal(t, o.Dir, mirror.HealOptions{}); kindsOf(paths) != "warc" {
			t.Errorf("repaired %q", paths)
		}
		if err := os.Remove(filepath.Join(o.Dir, "fetch.db")); err != nil {
			t.Fatal(err)
		}
		r, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client})
		if err != nil || r.DamagedRecords+r.LostRecords+r.Unlogged != 0 || r.Captures != int64(objects) {
			t.Errorf("%+v, %v; want %d captures", r, err, objects)
		}
		if sum := run(t, o); sum.Repaired != 0 || sum.New != 0 || s.notModified != len(s.webSite) {
			t.Errorf("%d not modified, %+v", s.notModified, sum)
		}
		checkVerify(t, o.Dir)
	})
}
