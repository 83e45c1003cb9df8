package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// A stored value describes a closed archive whose records are in one WARC file
// each: two different texts, and a copy of the first text.
type stored struct {
	dir                  string
	first, copied, other frontier.Capture
}

// newStored creates the archive. The texts are long enough for a revisit record.
func newStored(t *testing.T) *stored {
	t.Helper()
	s := &stored{dir: filepath.Join(t.TempDir(), "archive")}
	a := openArchive(t, s.dir, Options{WARC: &warc.Options{MaxSize: 1}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/first", "http://a.example/copied", "http://a.example/other")
	s.first = visit(t, a, l, l.Items[0], numbers(1, 1000))
	s.copied = visit(t, a, l, l.Items[1], numbers(1, 1000))
	s.other = visit(t, a, l, l.Items[2], numbers(2, 1000))
	if s.copied.Checksum != 0 || s.copied.Proof != s.first.Proof {
		t.Fatalf("the record of the copy is no revisit record: %+v", s.copied)
	}
	closeArchive(t, a)
	return s
}

// numbers returns n lines with numbers, which depend on the seed.
func numbers(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, seed*(i+1)*(i+7))
	}
	return b.String()
}

// path returns the path of the WARC file of c.
func (s *stored) path(c frontier.Capture) string { return filepath.Join(s.dir, warcFolder, c.File) }

// swap gives two WARC files the name of each other.
func (s *stored) swap(c, d frontier.Capture) error {
	return errors.Join(os.Rename(s.path(c), s.path(c)+".x"), os.Rename(s.path(d), s.path(c)), os.Rename(s.path(c)+".x", s.path(d)))
}

// flip changes a bit of a file. A negative offset counts from the end.
func flip(name string, at int) error {
	text, err := os.ReadFile(name)
	if err == nil {
		if at < 0 {
			at += len(text)
		}
		text[at] ^= 1
		err = os.WriteFile(name, text, 0o666)
	}
	return err
}

// grow appends text to a file.
func grow(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	return err
}

// names replaces the paths and the names of the WARC files by the names of their
// captures.
func (s *stored) names() *strings.Replacer {
	return strings.NewReplacer("warc/"+s.first.File, "first", "warc/"+s.copied.File, "copied", "warc/"+s.other.File, "other",
		s.first.File, "first", s.copied.File, "copied", s.other.File, "other")
}

// describe describes the results of Open with the names of the captures.
func (s *stored) describe(a *Archive, truncations []Truncation) string {
	var results []string
	names := s.names()
	for _, l := range a.Losses() {
		results = append(results, fmt.Sprintf("%s lost %d", names.Replace(l.File), l.Records))
	}
	for _, name := range a.Renamed() {
		results = append(results, names.Replace(name)+" renamed")
	}
	for _, c := range truncations {
		if c.Size <= 0 {
			results = append(results, "empty truncation")
		}
		results = append(results, names.Replace(c.File)+" truncated")
	}
	slices.Sort(results)
	return strings.Join(results, ", ")
}

// lost returns the names of the captures whose record is lost. The parameter
// forgotten reports whether the database marks them as lost.
func (s *stored) lost(t *testing.T, a *Archive, forgotten bool) string {
	t.Helper()
	var names []string
	for it, err := range a.frontier.Items(t.Context(), frontier.Pending) { // the run has not ended
		t.Errorf("pending: %v, %v", it, err)
	}
	for it, err := range a.frontier.Items(t.Context(), frontier.Done) {
		if err != nil {
			t.Fatal(err)
		}
		if file := it.LastCapture.File; file == "" != (forgotten && a.LostRecord(it.LastCapture)) {
			t.Errorf("%s: the database has the WARC file %q", it.URL, file)
		}
		if a.LostRecord(it.LastCapture) {
			names = append(names, strings.TrimPrefix(it.URL, "http://a.example/"))
		}
		if a.LostRecord(it.LastCapture) == a.Has(it.LastCapture) {
			t.Errorf("%s is both lost and archived, or neither", it.URL)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestOpenDamaged opens archives with missing, truncated, unfinished, damaged and
// renamed WARC files. Open finds the lost records, and a second Open finds no
// more.
func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	base := newStored(t)
	unfinished := func(name string) error { return os.Rename(name, name+warc.OpenSuffix) }
	for _, c := range []struct {
		name    string
		damage  func(s *stored) error
		results string // of Open
		lost    string // captures without a record
		attic   int    // number of files that Open moves to the attic
		damaged string // captures whose file Verify reports
	}{
		{"nothing", func(s *stored) error { return nil }, "", "", 0, ""},
		{"missing file with the original of a revisit record", func(s *stored) error { return os.Remove(s.path(s.first)) },
			"first lost 1", "copied first", 0, ""},
		{"missing file with a revisit record", func(s *stored) error { return os.Remove(s.path(s.copied)) }, "copied lost 1", "copied", 0, ""},
		{"all files missing", func(s *stored) error { return os.RemoveAll(filepath.Join(s.dir, warcFolder)) },
			"copied lost 1, first lost 1, other lost 1", "copied first other", 0, ""},
		{"truncated to nothing", func(s *stored) error { return os.Truncate(s.path(s.other), 0) }, "other lost 1", "other", 1, ""},
		{"truncated before the record", func(s *stored) error { return os.Truncate(s.path(s.other), s.other.Offset) }, "other lost 1", "other", 0, "other"},
		{"without the last byte", func(s *stored) error { return os.Truncate(s.path(s.other), s.other.Offset+s.other.Length-1) },
			"other lost 1", "other", 0, "other"},
		{"more bytes than committed", func(s *stored) error { return grow(s.path(s.other), "more") }, "", "", 0, "other"},
		{"damaged record", func(s *stored) error { return flip(s.path(s.other), -5) }, "", "other", 0, "other"},
		{"damaged original of a revisit record", func(s *stored) error { return flip(s.path(s.first), -5) }, "", "copied first", 0, "first"},
		{"unfinished", func(s *stored) error { return unfinished(s.path(s.other)) }, "", "", 0, ""},
		{"unfinished, with uncommitted bytes", func(s *stored) error {
			return errors.Join(grow(s.path(s.other), "more"), unfinished(s.path(s.other)))
		}, "other truncated", "", 0, ""},
		{"unfinished, without the last byte", func(s *stored) error {
			return errors.Join(os.Truncate(s.path(s.other), s.other.Offset+s.other.Length-1), unfinished(s.path(s.other)))
		}, "other lost 1, other truncated", "other", 0, "other"},
		{"unfinished, with a damaged first record", func(s *stored) error {
			return errors.Join(flip(s.path(s.other), 30), unfinished(s.path(s.other)))
		}, "", "", 0, "other"},
		{"unfinished, truncated to nothing", func(s *stored) error {
			return errors.Join(os.Truncate(s.path(s.other), 0), unfinished(s.path(s.other)))
		}, "other lost 1", "other", 1, ""},
		{"swapped", func(s *stored) error { return s.swap(s.first, s.other) }, "first renamed, other renamed", "", 0, ""},
		{"three names in a circle", func(s *stored) error {
			return errors.Join(s.swap(s.first, s.other), s.swap(s.other, s.copied))
		}, "copied renamed, first renamed, other renamed", "", 0, ""},
		{"swapped and unfinished", func(s *stored) error {
			return errors.Join(s.swap(s.first, s.other), unfinished(s.path(s.other)))
		}, "first renamed, other renamed", "", 0, ""},
		{"killed after the first rename", func(s *stored) error {
			return errors.Join(s.swap(s.first, s.other), os.Rename(s.path(s.other), s.path(s.first)+movingSuffix))
		}, "first renamed, other renamed", "", 0, ""},
		{"killed before the last rename", func(s *stored) error { return os.Rename(s.path(s.first), s.path(s.first)+movingSuffix) },
			"first renamed", "", 0, ""},
		{"copy of a longer file in its place", func(s *stored) error {
			text, err := os.ReadFile(s.path(s.other))
			return errors.Join(err, os.WriteFile(s.path(s.first), text, 0o666))
		}, "", "copied first", 0, "first other"},
		{"name of a file that is not in the archive", func(s *stored) error {
			return os.Rename(s.path(s.other), filepath.Join(s.dir, warcFolder, "unknown.warc.gz"))
		}, "other lost 1", "other", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := *base
			s.dir = filepath.Join(t.TempDir(), "archive")
			if err := errors.Join(os.CopyFS(s.dir, os.DirFS(base.dir)), c.damage(&s)); err != nil {
				t.Fatal(err)
			}
			results := c.results
			for range 2 {
				a, truncations, err := Open(t.Context(), s.dir, Options{WARC: &warc.Options{}, MaxLost: 1, Now: time.Now})
				if err != nil {
					t.Fatal(err)
				}
				if got := s.describe(a, truncations); got != results {
					t.Errorf("results %q, want %q", got, results)
				}
				if got := s.lost(t, a, strings.Contains(c.results, "lost")); got != c.lost {
					t.Errorf("lost %q, want %q", got, c.lost)
				}
				if names, err := a.frontier.Retired(t.Context()); len(names) > 0 || err != nil {
					t.Errorf("retired files %q, error %v", names, err)
				}
				closeArchive(t, a)
				results = ""
			}
			for name, want := range map[string]int{"warc/*" + movingSuffix: 0, "warc/*" + warc.OpenSuffix: 0, "attic/heal-*/warc/*": c.attic} {
				if found, _ := filepath.Glob(filepath.Join(s.dir, name)); len(found) != want {
					t.Errorf("%s: %q, want %d files", name, found, want)
				}
			}
			if got := s.names().Replace(strings.Join(problems(t, s.dir), " ")); got != c.damaged {
				t.Errorf("Verify reports problems of %s, want %s", got, c.damaged)
			}
			s.visitLost(t, strings.Fields(c.lost))
		})
	}
}

// problems returns the paths of the files that Verify reports, without notes.
func problems(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := Verify(t.Context(), dir, func(f Finding) bool {
		if !f.Note && !slices.Contains(paths, f.Path) {
			paths = append(paths, f.Path)
		}
		return true
	})
	if !errors.Is(err, ErrIncomplete) {
		t.Errorf("Verify: error %v, want %v", err, ErrIncomplete)
	}
	slices.Sort(paths)
	return paths
}

// visitLost visits URLs again, and checks that the archive then has all objects.
func (s *stored) visitLost(t *testing.T, names []string) {
	t.Helper()
	a, _, err := Open(t.Context(), s.dir, Options{WARC: &warc.Options{}, MaxLost: 1, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer closeArchive(t, a)
	var keys []frontier.Key
	for _, name := range names {
		keys = append(keys, frontier.KeyOf("http://a.example/"+name))
	}
	if n, err := a.frontier.RequeueItems(t.Context(), keys); int(n) != len(names) || err != nil {
		t.Fatal(n, err)
	}
	leases, err := a.frontier.Claim(t.Context(), "worker", 1, 9, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		for _, it := range l.Items {
			seed := 1
			if strings.HasSuffix(it.URL, "other") {
				seed = 2
			}
			if c := visit(t, a, l, it, numbers(seed, 1000)); !a.Has(&c) {
				t.Errorf("the archive does not have %+v", c)
			}
		}
	}
	if got := s.lost(t, a, false); got != "" {
		t.Errorf("after the next visits: lost %q", got)
	}
}

// TestTruncatedAfterRecord checks that a record is not lost if it is the last one
// before the end of a truncated file, or in front of it.
func TestTruncatedAfterRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kept int   // records before the end of the file
		more int64 // further bytes
		open bool  // whether the file is unfinished
	}{
		{"after the first record", 1, 0, false},
		{"in the second record", 1, 10, false},
		{"before the end of the second record", 1, -1, false},
		{"after the second record", 2, 0, false},
		{"unfinished, after the first record", 1, 0, true},
		{"unfinished, before the end of the second record", 1, -1, true},
		{"unfinished, in the first record", 0, 10, true},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{}, Now: time.Now})
		l := claimItems(t, a, "http://a.example/1", "http://a.example/2", "http://a.example/3")
		ends := []int64{}
		var captures []frontier.Capture
		for i, it := range l.Items {
			capture := visit(t, a, l, it, numbers(i+1, 100))
			captures = append(captures, capture)
			ends = append(ends, capture.Offset+capture.Length)
		}
		closeArchive(t, a)
		size := captures[c.kept].Offset + c.more
		if c.more < 0 {
			size = ends[c.kept] + c.more
		}
		name := filepath.Join(dir, warcFolder, captures[0].File)
		err := os.Truncate(name, size)
		if c.open {
			err = errors.Join(err, os.Rename(name, name+warc.OpenSuffix))
		}
		if err != nil {
			t.Fatal(err)
		}
		a, truncations, err := Open(t.Context(), dir, Options{WARC: &warc.Options{}, MaxLost: 1, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Losses(); len(got) != 1 || got[0].Records != 3-c.kept {
			t.Errorf("%s: losses %+v, want %d", c.name, got, 3-c.kept)
		}
		if more := size - captures[c.kept].Offset; (len(truncations) > 0) != (c.open && more > 0) || len(truncations) > 0 && truncations[0].Size != more {
			t.Errorf("%s: truncations %+v, want %d bytes", c.name, truncations, more)
		}
		var items []frontier.Item
		for it, err := range a.frontier.Items(t.Context(), frontier.Done) {
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, it)
		}
		for i, it := range items {
			if got := a.LostRecord(it.LastCapture); got != (i >= c.kept) {
				t.Errorf("%s: record %d is lost: %t", c.name, i, got)
			}
		}
		closeArchive(t, a)
	}
}

// TestMaxLost checks that Open changes nothing if more records are missing than
// allowed.
func TestMaxLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		maxLost float64
		want    error
	}{
		{"none allowed", 0, ErrLost},
		{"fewer than a third allowed", 0.33, ErrLost},
		{"two thirds allowed", 2.0 / 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStored(t)
			away := filepath.Join(t.TempDir(), "away")
			if err := errors.Join(os.Remove(s.path(s.other)), os.Rename(s.path(s.first), away)); err != nil {
				t.Fatal(err)
			}
			a, _, err := Open(t.Context(), s.dir, Options{WARC: &warc.Options{}, MaxLost: c.maxLost, Now: time.Now})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if err == nil {
				closeArchive(t, a)
				return
			}
			if fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), "2 of 3") {
				t.Errorf("error %v", err)
			}
			if err := os.Rename(away, s.path(s.first)); err != nil {
				t.Fatal(err)
			}
			a, truncations, err := Open(t.Context(), s.dir, Options{WARC: &warc.Options{}, MaxLost: 1, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.describe(a, truncations); got != "other lost 1" {
				t.Errorf("after the disk is mounted: %q", got)
			}
			closeArchive(t, a)
		})
	}
}
