package mirror_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// newTaggedArchive mirrors a site with pages, a copy of a page and a large page
// into many small WARC files.
func newTaggedArchive(t *testing.T) (*taggedSite, mirror.Options) {
	w := newNetwork(t)
	s := &taggedSite{webSite: webSite{"/large": randomText(300 << 10)}, tag: "1"}
	links := "<a href=copy><a href=large>"
	for n := range 8 {
		s.webSite[fmt.Sprintf("/%d", n)] = randomText(3000 + n)
		links += fmt.Sprintf("<a href=%d>", n)
	}
	s.webSite["/copy"] = s.webSite["/0"]
	s.webSite["/"] = links
	w.web("a.example", s)
	o := w.options("http://a.example/")
	o.WARC.Size, o.Delay = 1, time.Second // each object gets a WARC file
	run(t, o)
	return s, o
}

// randomText returns n bytes that do not compress well and are the same in each
// test.
func randomText(n int) string {
	var b strings.Builder
	for x := uint64(n); b.Len() < n; {
		x = x*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%x", x>>20)
	}
	return b.String()[:n]
}

// placeOf returns the path of the WARC file and the place of the newest record
// of a URL.
func placeOf(t *testing.T, dir, url string) (path string, offset int64) {
	t.Helper()
	for l, err := range mirror.Open(mirror.Location{Dir: dir}).Dump(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if l.URL == url {
			return filepath.Join(dir, "warc", l.WARC), l.Offset
		}
	}
	t.Fatalf("%s is not in the archive", url)
	return "", 0
}

// flipAt changes a byte of a file.
func flipAt(t *testing.T, path string, at int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		text[at] ^= 1
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLostRecords checks that a run retrieves the objects again whose records
// are missing or damaged, and no others.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		damage   func(t *testing.T, o *mirror.Options)
		repaired int64 // number of objects that are retrieved again
		damaged  bool  // whether the damaged file remains
	}{
		{"missing file", func(t *testing.T, o *mirror.Options) { removeWARC(t, o, "/3") }, 1, false},
		{"missing file with the original of a revisit record", func(t *testing.T, o *mirror.Options) { removeWARC(t, o, "/copy") }, 2, false},
		{"missing file with a revisit record", func(t *testing.T, o *mirror.Options) { removeWARC(t, o, "/0") }, 1, false},
		{"all files", func(t *testing.T, o *mirror.Options) { os.RemoveAll(filepath.Join(o.Dir, "warc")) }, 11, false},
		{"truncated file", func(t *testing.T, o *mirror.Options) {
			path, at := placeOf(t, o.Dir, "http://a.example/4")
			if err := os.Truncate(path, at+200); err != nil {
				t.Fatal(err)
			}
		}, 1, true},
		{"truncated unfinished file", func(t *testing.T, o *mirror.Options) {
			path, at := placeOf(t, o.Dir, "http://a.example/4")
			if err := errors.Join(os.Truncate(path, at+200), os.Rename(path, path+warc.OpenSuffix)); err != nil {
				t.Fatal(err)
			}
		}, 1, false},
		{"unfinished file with a damaged first record", func(t *testing.T, o *mirror.Options) {
			path, _ := placeOf(t, o.Dir, "http://a.example/4")
			flipAt(t, path, 30)
			if err := os.Rename(path, path+warc.OpenSuffix); err != nil {
				t.Fatal(err)
			}
		}, 0, true},
		{"damaged record", func(t *testing.T, o *mirror.Options) {
			path, at := placeOf(t, o.Dir, "http://a.example/5")
			flipAt(t, path, at+300)
		}, 1, true},
		{"damaged header of a large record", func(t *testing.T, o *mirror.Options) {
			path, at := placeOf(t, o.Dir, "http://a.example/large")
			flipAt(t, path, at+20)
		}, 1, true},
		{"damaged large record, with Recheck", func(t *testing.T, o *mirror.Options) {
			path, at := placeOf(t, o.Dir, "http://a.example/large")
			flipAt(t, path, at+100_000)
			o.Recheck = true
		}, 1, true},
		{"damaged file in the tree, with Recheck", func(t *testing.T, o *mirror.Options) {
			flipAt(t, filepath.Join(o.Dir, "tree/http/a.example/6"), 7)
			o.Recheck = true
		}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newTaggedArchive(t)
				o.MaxLost = 1
				c.damage(t, &o)
				if !reportsDamage(t, o.Dir) {
					t.Error("the damage is not reported")
				}
				sum := run(t, o)
				if sum.Repaired != c.repaired || sum.New != 0 || s.notModified != len(s.webSite)-int(c.repaired) {
					t.Errorf("%d repaired, want %d; %d not modified: %+v", sum.Repaired, c.repaired, s.notModified, sum)
				}
				if !c.damaged {
					checkVerify(t, o.Dir)
				}
				s.notModified = 0
				if sum := run(t, o); sum.Repaired != 0 || s.notModified != len(s.webSite) {
					t.Errorf("the next run repairs again: %+v", sum)
				}
				checkRevisits(t, o.Dir)
			})
		})
	}
}

func removeWARC(t *testing.T, o *mirror.Options, page string) {
	t.Helper()
	path, _ := placeOf(t, o.Dir, "http://a.example"+page)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// checkRevisits checks that each newest capture is a complete record, or a
// revisit record of an intact record.
func checkRevisits(t *testing.T, dir string) {
	t.Helper()
	heads := map[string]*warc.Header{}
	newest := map[string]*warc.Header{} // by URL
	for _, name := range warcs(t, dir) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for l, err := range warc.Lines(name, f) {
			if err != nil {
				continue // the damage of the test
			}
			h, intact := (&warc.RecordVerifier{}).Verify(f, l.Offset)
			if !intact {
				continue
			}
			heads[h.ID()] = h
			if n := newest[h.Target()]; n == nil || n.Date().Before(h.Date()) {
				newest[h.Target()] = h
			}
		}
	}
	for url, h := range newest {
		if h.Type() != warc.Revisit {
			continue
		}
		if first := heads[strings.Trim(h.Get("WARC-Refers-To"), "<>")]; first == nil || first.Type() == warc.Revisit {
			t.Errorf("the newest record of %s refers to no intact record: %+v", url, first)
		}
	}
}

// TestMaxLost checks that a run changes nothing if too many records are missing.
func TestMaxLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newTaggedArchive(t)
		away := filepath.Join(t.TempDir(), "warc")
		if err := os.Rename(filepath.Join(o.Dir, "warc"), away); err != nil {
			t.Fatal(err)
		}
		for _, share := range []float64{0, 0.99} {
			o.MaxLost = share
			_, err := mirror.Run(t.Context(), o)
			if !errors.Is(err, mirror.ErrLost) || fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), "11 of 11") {
				t.Errorf("share %g: %v", share, err)
			}
		}
		if err := os.Rename(away, filepath.Join(o.Dir, "warc")); err != nil {
			t.Fatal(err)
		}
		checkVerify(t, o.Dir)
	})
}

// TestLostAndDeleted checks that the loss of a record does not change the state
// of a URL that was deleted on the server.
func TestLostAndDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, o := newTaggedArchive(t)
		delete(s.webSite, "/3")
		s.webSite["/"] = strings.Replace(s.webSite["/"], "<a href=3>", "", 1)
		s.tag = "2"
		run(t, o)
		o.MaxLost = 1
		removeWARC(t, &o, "/3")
		if sum := run(t, o); sum.Failed != 0 || !strings.Contains(outcomes(t, o.Dir), "gone http://a.example/3") {
			t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	})
}

// swapWARC exchanges the names of the WARC files with the records of two URLs.
// The second file then has the given suffix.
func swapWARC(t *testing.T, dir, one, other, suffix string) (a, b string) {
	t.Helper()
	a, _ = placeOf(t, dir, one)
	b, _ = placeOf(t, dir, other)
	if err := errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b+suffix)); err != nil || a == b {
		t.Fatal(err, a, b)
	}
	return a, b
}

// TestSwappedRecords checks that a run gives WARC files their right names and
// retrieves no object again, also if it was killed in the middle.
func TestSwappedRecords(t *testing.T) {
	t.Parallel()
	const one, other = "http://a.example/5", "http://a.example/large"
	for name, damage := range map[string]func(t *testing.T, dir string){
		"swapped":    func(t *testing.T, dir string) { swapWARC(t, dir, one, other, "") },
		"unfinished": func(t *testing.T, dir string) { swapWARC(t, dir, one, other, warc.OpenSuffix) },
		"three files": func(t *testing.T, dir string) {
			swapWARC(t, dir, one, other, "")
			swapWARC(t, dir, other, "http://a.example/3", "")
		},
		"killed after the first rename": func(t *testing.T, dir string) {
			a, b := swapWARC(t, dir, one, other, "")
			if err := os.Rename(b, a+".moving"); err != nil {
				t.Fatal(err)
			}
		},
		"killed before the last rename": func(t *testing.T, dir string) {
			a, _ := placeOf(t, dir, one)
			if err := os.Rename(a, a+".moving"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, o := newTaggedArchive(t)
				damage(t, o.Dir)
				if sum := run(t, o); sum.Repaired != 0 || sum.New != 0 || s.notModified != len(s.webSite) {
					t.Errorf("%d not modified, %+v", s.notModified, sum)
				}
				for name := range filesBelow(t, o.Dir) {
					if strings.HasSuffix(name, ".moving") || strings.HasPrefix(name, "attic") {
						t.Errorf("the run has left %s", name)
					}
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestCopiedRecords checks that a WARC file is not renamed if another file is in
// its place.
func TestCopiedRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newTaggedArchive(t)
		a, _ := placeOf(t, o.Dir, "http://a.example/5")
		b, _ := placeOf(t, o.Dir, "http://a.example/3")
		if err := os.WriteFile(a, []byte(content(t, b)), 0o666); err != nil {
			t.Fatal(err)
		}
		if sum := run(t, o); sum.Repaired != 1 {
			t.Errorf("%+v", sum)
		}
	})
}
