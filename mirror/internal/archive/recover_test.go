package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// TestOpenPublishes checks which temporary files of a killed process Open moves to
// the tree, and that Verify describes these files with a note.
func TestOpenPublishes(t *testing.T) {
	t.Parallel()
	const path = "tree/http/a.example/one"
	label := Label(frontier.KeyOf("http://a.example/one"))
	unknown := Label(frontier.KeyOf("http://a.example/unknown"))
	for _, c := range []struct {
		name string
		left map[string]string // content of the files in tmp, by name
		want bool
	}{
		{"committed", map[string]string{label + ".1.part": body}, true},
		{"none", nil, false},
		{"other content of the same size", map[string]string{label + ".1.part": strings.ToUpper(body)}, false},
		{"incomplete", map[string]string{label + ".1.part": body[:5]}, false},
		{"of an unknown URL", map[string]string{unknown + ".1.part": body}, false},
		{"name without a key", map[string]string{"x.1.part": body}, false},
		{"name with a part of a key", map[string]string{label[:30] + ".1.part": body}, false},
		{"name with more than a key", map[string]string{label + "00.1.part": body}, true},
		{"between two other files", map[string]string{label + ".0.part": "x", label + ".1.part": body, unknown + ".1.part": "x"}, true},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
		l := claimItems(t, a, "http://a.example/one")
		visit(t, a, l, l.Items[0], body)
		if err := errors.Join(a.Close(), os.Remove(filepath.Join(dir, path)), os.MkdirAll(filepath.Join(dir, tree.Tmp), 0o700)); err != nil {
			t.Fatal(err)
		}
		for name, text := range c.left {
			if err := os.WriteFile(filepath.Join(dir, tree.Tmp, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		found := 0
		err := Verify(t.Context(), dir, func(f Finding) bool {
			if f.Path == path {
				if found++; f.Note != c.want {
					t.Errorf("%s: before Open: %+v", c.name, f)
				}
			}
			return true
		})
		if found != 1 || !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: before Open: %d findings, error %v", c.name, found, err)
		}
		closeArchive(t, openArchive(t, dir, Options{Tree: true, Now: time.Now}))
		text, err := os.ReadFile(filepath.Join(dir, path))
		if (err == nil) != c.want || err == nil && string(text) != body {
			t.Errorf("%s: file %q, error %v; want a file: %t", c.name, text, err, c.want)
		}
		if left, err := os.ReadDir(filepath.Join(dir, tree.Tmp)); len(left) > 0 {
			t.Errorf("%s: temporary files %v, %v", c.name, left, err)
		}
	}
}

// TestLayouts checks which versions of the rules for paths Open accepts.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		layout tree.Layout
		err    error
	}{
		{"first", tree.FirstLayout, nil},
		{"newest", tree.NewLayout, nil},
		{"of a later version", tree.NewLayout + 1, fetch.Local},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		err := openArchive(t, dir, Options{Tree: true, Now: time.Now}).Close()
		if err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(filepath.Join(dir, database))
		if err == nil {
			err = errors.Join(db.Exec("update layout set version=?", int(c.layout)), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := Open(t.Context(), dir, Options{Tree: true, Now: time.Now, Scheme: webScheme})
		if err == nil {
			closeArchive(t, a)
		}
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
	}
}

// TestOpenAgain checks what Open does with the leases, the WARC files and the
// forms of an earlier run.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	both := Options{Tree: true, WARC: &warc.Options{}}
	for _, c := range []struct {
		name          string
		first, second Options
		err           error
	}{
		{"same forms", both, both, nil},
		{"with a tree, but not in the second run", both, Options{WARC: &warc.Options{}}, fetch.Usage},
		{"with records, but not in the second run", both, Options{Tree: true}, nil},
		{"with a tree only", Options{Tree: true}, Options{Tree: true}, nil},
		{"with records only", Options{WARC: &warc.Options{}}, Options{WARC: &warc.Options{}}, nil},
		{"with records only in the second run", Options{Tree: true}, both, nil},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		c.first.Now, c.second.Now, c.second.Scheme = time.Now, time.Now, webScheme
		a := openArchive(t, dir, c.first)
		l := claimItems(t, a, "http://a.example/one", "http://a.example/two")
		one := visit(t, a, l, l.Items[0], body)
		if a.records != nil { // the process is killed, so that the file remains unfinished
			if err := a.records.w.Abandon(); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a, truncations, err := Open(t.Context(), dir, c.second)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || len(truncations) > 0 {
			t.Errorf("%s: error %v, want %v; truncations %+v", c.name, err, c.err, truncations)
		}
		if err != nil {
			continue
		}
		leases, err := a.frontier.Claim(t.Context(), "worker", 1, 9, time.Minute)
		if len(leases) != 1 || len(leases[0].Items) != 1 || err != nil {
			t.Fatalf("%s: leases %+v, error %v", c.name, leases, err)
		}
		two := visit(t, a, leases[0], leases[0].Items[0], body)
		if c.first.WARC != nil && c.second.WARC != nil && one.File != two.File {
			t.Errorf("%s: the records are in %s and %s", c.name, one.File, two.File)
		}
		closeArchive(t, a)
		checkVerify(t, dir)
		_, err = os.Stat(filepath.Join(dir, warcFolder))
		if want := c.first.WARC != nil || c.second.WARC != nil; want != (err == nil) {
			t.Errorf("%s: folder of records: %v", c.name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, warcFolder, "*"+warc.OpenSuffix)); len(left) > 0 {
			t.Errorf("%s: unfinished files %q", c.name, left)
		}
		index, _ := os.ReadFile(filepath.Join(dir, indexFile))
		for _, capture := range []frontier.Capture{one, two} {
			if capture.File != "" && !strings.Contains(string(index), capture.URL) {
				t.Errorf("%s: the index lacks %s", c.name, capture.URL)
			}
		}
	}
}

// TestLock calls each function while a run has the lock, and after the run.
func TestLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
	use := func(f frontier.Frontier) error {
		_, err := f.Stats(t.Context())
		return err
	}
	for _, running := range []bool{true, false} {
		for _, c := range []struct {
			name  string
			call  func() error
			inUse bool // whether the call fails during a run
		}{
			{"Open", func() error {
				a, _, err := Open(t.Context(), dir, Options{Tree: true, Now: time.Now, Scheme: webScheme})
				if err == nil {
					err = a.Close()
				}
				return err
			}, true},
			{"View", func() error { return View(t.Context(), dir, use) }, false},
			{"Update", func() error { return Update(t.Context(), dir, use) }, true},
			{"Alter", func() error { return Alter(t.Context(), dir, use) }, false},
			{"Reindex", func() error { return Reindex(t.Context(), dir) }, true},
			{"Verify", func() error {
				err := Verify(t.Context(), dir, func(Finding) bool { return true })
				if errors.Is(err, ErrIncomplete) {
					err = nil
				}
				return err
			}, true},
			{"WhileIdle", func() error { return WhileIdle(dir, func() error { return nil }) }, true},
		} {
			err := c.call()
			if want := running && c.inUse; errors.Is(err, fetch.InUse) != want || (err != nil) != want {
				t.Errorf("%s during a run (%t): error %v", c.name, running, err)
			}
			if _, err := os.Stat(filepath.Join(dir, tree.Tmp)); running && err != nil {
				t.Errorf("%s during a run: the temporary folder is missing: %v", c.name, err)
			}
		}
		if running {
			closeArchive(t, a)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, tree.Tmp)); err == nil {
		t.Error("the temporary folder is left")
	}
}

// TestWhileIdle checks when WhileIdle calls its function, and that it creates no
// lock.
func TestWhileIdle(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	for _, c := range []struct {
		name           string
		folder, locked bool // whether the folder exists, and another process holds the lock
		lock           bool // whether the lock file exists
		err            error
	}{
		{"missing folder", false, false, false, failure},
		{"no lock file", true, false, false, failure},
		{"lock file", true, false, true, failure},
		{"locked", true, true, true, fetch.InUse},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		if c.folder {
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		f := folder{dir: dir}
		if c.lock {
			if err := f.acquireLock(); err != nil {
				t.Fatal(err)
			}
			if !c.locked {
				f.close()
			}
		}
		for range 2 { // the first call releases the lock
			if err := WhileIdle(dir, func() error { return failure }); !errors.Is(err, c.err) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, lockFile)); (err == nil) != c.lock {
			t.Errorf("%s: lock file: %v", c.name, err)
		}
		if c.locked {
			f.close()
		}
	}
}

// TestUpdate checks that Update keeps the digest of the rows if the database has
// one, and that it does not hide a change by another program.
func TestUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		sealed  bool
		changed bool // whether another program has changed the database
		err     error
	}{
		{"sealed", true, false, nil},
		{"not sealed", false, false, nil},
		{"sealed, and changed by another program", true, true, frontier.ErrDamaged},
		{"not sealed, and changed by another program", false, true, nil},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{Tree: true, Now: time.Now})
		err := a.frontier.Release(t.Context(), claimItems(t, a, "http://a.example/"), time.Time{})
		if c.sealed {
			err = errors.Join(err, a.Seal(t.Context()))
		}
		if err := errors.Join(err, a.Close()); err != nil {
			t.Fatal(err)
		}
		if c.changed {
			db, err := sqlite.Open(filepath.Join(dir, database))
			if err == nil {
				err = errors.Join(db.Exec("update url set url='http://b.example/'"), db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		called := false
		err = Update(t.Context(), dir, func(f frontier.Frontier) error {
			called = true
			return f.BlockHost(t.Context(), "a.example", time.Now().Add(time.Hour))
		})
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || called != (err == nil) {
			t.Errorf("%s: error %v, want %v; the function was called: %t", c.name, err, c.err, called)
		}
		if err != nil {
			continue
		}
		err = View(t.Context(), dir, func(f frontier.Frontier) error {
			seal, err := f.ReadSeal(t.Context())
			if seal.Rows != c.sealed {
				t.Errorf("%s: sealed after Update: %t", c.name, seal.Rows)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNoArchive opens folders that are no archives.
func TestNoArchive(t *testing.T) {
	t.Parallel()
	const worker = `{"worker":"one","folder":"x","incarnation":1}`
	for _, c := range []struct {
		name  string
		files map[string]string // nil for no folder
		err   error
		text  string // part of the error
	}{
		{"missing folder", nil, fs.ErrNotExist, ""},
		{"empty folder", map[string]string{}, fetch.Local, "is not an archive: it has no " + database},
		{"other files", map[string]string{"readme": "x"}, fetch.Local, "is not an archive"},
		{"tree without a database", map[string]string{"tree/x": "x"}, ErrNoDatabase, ""},
		{"mailbox without a database", map[string]string{"mail/x": "x"}, ErrNoDatabase, ""},
		{"records without a database", map[string]string{"warc/x.warc.gz": "x"}, ErrNoDatabase, ""},
		{"unfinished records and an empty database", map[string]string{"warc/x.warc.gz.open": "x", database: ""}, ErrNoDatabase, ""},
		{"tree and an empty database", map[string]string{"tree/x": "x", database: ""}, ErrNoDatabase, ""},
		{"folder of a worker", map[string]string{workerFile: worker}, fetch.Usage, "belongs to the worker one"},
		{"interrupted copy to a shared crawl", map[string]string{workerFile: worker, database: "x"}, fetch.Usage, "was interrupted"},
		{"damaged identity of a worker", map[string]string{workerFile: `{"worker":"one"}`}, fetch.Local, "is damaged"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		for name, text := range c.files {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if c.files != nil {
			os.MkdirAll(dir, 0o777)
		}
		nothing := func(frontier.Frontier) error { return nil }
		for _, err := range []error{View(t.Context(), dir, nothing), Update(t.Context(), dir, nothing)} {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: error %v, want %v and %q", c.name, err, c.err, c.text)
			}
		}
	}
}
