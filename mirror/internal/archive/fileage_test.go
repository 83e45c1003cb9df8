package archive

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

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
