package archive

import (
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// TestFileAge commits records to files with a maximum age of one hour.
func TestFileAge(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Unix(1e9, 0)
	o := Options{WARC: &warc.Options{}, FileAge: time.Hour, Now: func() time.Time { return now }}
	a := openArchive(t, dir, o)
	l := claimItems(t, a, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4", "http://a.example/5")
	var files []string
	for i, later := range []time.Duration{0, 59 * time.Minute, time.Minute, 0, time.Minute} {
		now = now.Add(later)
		e := newEntry(t, a, l.Items[i])
		if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
			t.Fatal(err)
		}
		e.Body.Free()
		files = append(files, e.Result.Capture.File)
	}
	if files[0] != files[2] || files[2] == files[3] || files[3] != files[4] {
		t.Errorf("files %q; want three records in the first file and two in the second", files)
	}
	for i, suffix := range []string{2: "", 3: warc.OpenSuffix} {
		if found, _ := filepath.Glob(filepath.Join(dir, warcFolder, files[i]+suffix)); i >= 2 && len(found) != 1 {
			t.Errorf("the file %s%s is missing", files[i], suffix)
		}
	}
	closeArchive(t, a)
	if left, _ := filepath.Glob(filepath.Join(dir, warcFolder, "*"+warc.OpenSuffix)); len(left) > 0 {
		t.Errorf("unfinished files: %s", strings.Join(left, " "))
	}
	checkVerify(t, dir)
}

// TestFileAgeOfFailures checks that failed commits and a restart of the program
// do not change when a file is finished.
func TestFileAgeOfFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit time.Duration
		steps string // m: a minute less than an hour later; 1: a minute later; c: a commit; f: a failed commit; o: the archive is opened again
		files string // file of each commit
	}{
		{"no limit", 0, "c m1 c m1 c", "000"},
		{"limit in the second commit", time.Hour, "c m1 c c", "001"},
		{"failed commit after the first", time.Hour, "c m f 1 c c", "001"},
		{"failed commit in a new file", time.Hour, "f m c m c 1 c c", "0001"},
		{"failed commit when the file is old", time.Hour, "c m1 f c c", "001"},
		{"the file is continued", time.Hour, "c m o c m c 1 c c", "00001"},
		{"an empty file is left", time.Hour, "f o m c m c 1 c c", "0001"},
	} {
		dir, now := t.TempDir(), time.Unix(1e9, 0)
		o := Options{WARC: &warc.Options{}, FileAge: c.limit, Now: func() time.Time { return now }}
		a := openArchive(t, dir, o)
		l := claimItems(t, a, "http://a.example/0", "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4")
		items := l.Items
		files, numbers := "", map[string]int{}
		for _, step := range c.steps {
			switch step {
			case 'm':
				now = now.Add(59 * time.Minute)
			case '1':
				now = now.Add(time.Minute)
			case 'c':
				name := visit(t, a, l, items[0], body).File
				items = items[1:]
				if _, known := numbers[name]; !known {
					numbers[name] = len(numbers)
				}
				files += strconv.Itoa(numbers[name])
			case 'f':
				good, bad := newEntry(t, a, items[0]), newEntry(t, a, items[0])
				bad.Records = func(*frontier.Capture) ([]*warc.Record, error) { return nil, io.ErrClosedPipe }
				if err := a.Commit(t.Context(), l, []Entry{good, bad}, func() {}); !errors.Is(err, io.ErrClosedPipe) {
					t.Fatal(err)
				}
				good.Body.Free()
				bad.Body.Free()
			case 'o':
				if err := errors.Join(a.records.w.Abandon(), a.Close()); err != nil {
					t.Fatal(err)
				}
				a = openArchive(t, dir, o)
				leases, err := a.frontier.Claim(t.Context(), "worker", 1, 9, time.Minute)
				if err != nil || len(leases) != 1 {
					t.Fatal(leases, err)
				}
				l, items = leases[0], leases[0].Items
			}
		}
		if files != c.files {
			t.Errorf("%s: records in the files %s, want %s", c.name, files, c.files)
		}
		closeArchive(t, a)
		checkVerify(t, dir)
	}
}
