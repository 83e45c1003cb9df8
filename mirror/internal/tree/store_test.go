package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// openStore opens a Store in a new folder.
func openStore(t testing.TB) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// publishFile publishes a file with the given body.
func publishFile(t testing.TB, s *Store, path, body string, modified time.Time) error {
	t.Helper()
	f, err := s.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if f.Size() != int64(len(body)) {
		t.Errorf("Size: got %d, want %d", f.Size(), len(body))
	}
	return f.Publish(path, modified)
}

// readFile returns the content of a file of the archive.
func readFile(t testing.TB, dir, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// countTemporary returns the number of temporary files.
func countTemporary(t testing.TB, dir string) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, Tmp))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestPublish(t *testing.T) {
	s, dir := openStore(t)
	when := time.Date(1996, 2, 29, 1, 2, 3, 0, time.UTC)
	for _, body := range []string{"one", "replacement"} {
		if err := publishFile(t, s, "http/h/a/b", body, when); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, dir, "tree/http/h/a/b"); got != body {
			t.Errorf("got %q, want %q", got, body)
		}
	}
	if info, err := s.Stat("http/h/a/b"); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("got %v, %v", info, err)
	}
	if err := s.SyncFolders(); err != nil {
		t.Error(err)
	}
	if n := countTemporary(t, dir); n != 0 {
		t.Errorf("%d temporary files remain", n)
	}
}

// TestPublishInvalidPath checks that Publish rejects a path that is occupied or
// that is not a valid path of the tree.
func TestPublishInvalidPath(t *testing.T) {
	s, _ := openStore(t)
	for _, path := range []string{"http/h/a", "http/h/d/f"} {
		if err := publishFile(t, s, path, "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"http/h/a/b", "http/h/d", "http/h/a/b/c"} {
		if err := publishFile(t, s, path, "y", time.Time{}); !errors.Is(err, fetch.Local) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{"../fetch.db", "http/../../fetch.db", "/x", "", ".", "http/h/", "a//b"} {
		if err := publishFile(t, s, path, "y", time.Time{}); err == nil {
			t.Errorf("Publish accepted the path %q", path)
		}
	}
	if n := countUnpublished(t, s); n != 10 {
		t.Errorf("got %d unpublished files, want 10", n)
	}
}

// TestUnpublished checks that another process can publish a synced file.
func TestUnpublished(t *testing.T) {
	s, dir := openStore(t)
	f, err := s.Create("one")
	if err == nil {
		_, err = f.Write([]byte("text"))
	}
	if err := errors.Join(err, s.Sync(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	other, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for f, err := range other.Unpublished() {
		if err != nil || f.Label() != "one" || f.Size() != 4 {
			t.Fatalf("got %+v, %v", f, err)
		}
		if err := f.Publish("http/h/a", time.Time{}); err != nil {
			t.Error(err)
		}
	}
	if got := readFile(t, dir, "tree/http/h/a"); got != "text" || countUnpublished(t, other) != 0 {
		t.Errorf("got %q, %d unpublished files", got, countUnpublished(t, other))
	}
}

// countUnpublished returns the number of unpublished files.
func countUnpublished(t testing.TB, s *Store) (n int) {
	t.Helper()
	for f, err := range s.Unpublished() {
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		n++
	}
	return n
}

// TestDiscardAndClean checks that Discard and Clean remove temporary files.
func TestDiscardAndClean(t *testing.T) {
	if testing.Short() {
		t.Skip("creates thousands of files")
	}
	s, dir := openStore(t)
	f, err := s.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := f.Open(); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
	if err := f.Discard(); err != nil || countTemporary(t, dir) != 0 {
		t.Errorf("got error %v, %d temporary files remain", err, countTemporary(t, dir))
	}
	if err := f.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := f.Write([]byte("x")); !errors.Is(err, fetch.Usage) {
		t.Errorf("got %v", err)
	}
	if err := f.Publish("http/h/a", time.Time{}); !errors.Is(err, fetch.Usage) {
		t.Errorf("got %v", err)
	}

	for range 3000 { // files of a killed process
		f, err := s.Create("x")
		if err != nil {
			t.Fatal(err)
		}
		f.f.Close()
	}
	other, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if f, err := other.Create("x"); err != nil {
		t.Error(err) // Create must skip existing names
	} else {
		f.f.Close()
	}
	if err := other.Clean(); err != nil || countTemporary(t, dir) != 0 {
		t.Errorf("got error %v, %d temporary files remain", err, countTemporary(t, dir))
	}
}

func TestMoveToAttic(t *testing.T) {
	s, dir := openStore(t)
	if err := publishFile(t, s, "http/h/a/b", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveToAttic("http/h/a/b", "3"); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, "attic/3/http/h/a/b"); got != "x" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Stat("http/h/a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := s.MoveToAttic("http/h/a/b", "3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: got error %v", err)
	}
	if err := s.SyncFolders(); err != nil {
		t.Error(err)
	}
}

// TestMoveToAtticDeepPath checks that MoveToAttic keeps the source folder open
// while it opens the target folder, even if the path exceeds maxOpen folders.
func TestMoveToAtticDeepPath(t *testing.T) {
	if testing.Short() {
		t.Skip("creates hundreds of folders")
	}
	s, dir := openStore(t)
	s.o.NoSync = true
	deep := strings.Repeat("a/", maxOpen+20) + "f"
	for _, path := range []string{"http/h/a", deep} {
		if err := publishFile(t, s, path, "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range []string{"http/h/a", deep} {
		if err := s.MoveToAttic(path, strconv.Itoa(i)); err != nil {
			t.Errorf("%v", err)
		}
		if got := readFile(t, dir, "attic/"+strconv.Itoa(i)+"/"+path); got != "x" {
			t.Errorf("got %q", got)
		}
	}
	if len(s.folders) != len(s.order) || len(s.order) > maxOpen {
		t.Errorf("got %d open folders, %d in order", len(s.folders), len(s.order))
	}
}

// TestManyFolders publishes files in more folders than a Store keeps open.
func TestManyFolders(t *testing.T) {
	s, dir := openStore(t)
	want := map[string]bool{}
	for batch := range 3 {
		var files []*File
		for range 100 {
			f, err := s.Create("x")
			if err != nil {
				t.Fatal(err)
			}
			f.Write([]byte("x"))
			files = append(files, f)
		}
		if err := s.Sync(files...); err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			path := fmt.Sprintf("http/h/%d/%d/f", batch, i)
			want[path] = true
			if err := f.Publish(path, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SyncFolders(); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.folders) > maxOpen || len(s.folders) != len(s.order) {
		t.Errorf("got %d open folders, %d in order", len(s.folders), len(s.order))
	}
	if err := os.Symlink("0", filepath.Join(dir, "tree/http/h/link")); err == nil {
		want["http/h/link"] = true
	}
	for e, err := range s.Walk() {
		if err != nil || !want[e.Path] {
			t.Errorf("%v, %q", err, e.Path)
		}
		delete(want, e.Path)
	}
	if len(want) > 0 {
		t.Errorf("Walk did not return %v", want)
	}
}

func TestConcurrentPublish(t *testing.T) {
	s, dir := openStore(t)
	s.o.NoSync = true
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				path := fmt.Sprintf("http/h/%d/%d", i, g)
				if err := publishFile(t, s, path, path, time.Unix(1, 0)); err != nil {
					t.Error(err)
				}
				if i%20 == 0 {
					if err := s.SyncFolders(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for e, err := range s.Walk() {
		if n++; err != nil || readFile(t, dir, "tree/"+e.Path) != e.Path {
			t.Errorf("%q, %v", e.Path, err)
		}
	}
	if n != 8*60 {
		t.Errorf("got %d files, want %d", n, 8*60)
	}
}

func TestWalkEmptyTree(t *testing.T) {
	s, _ := openStore(t)
	for e, err := range s.Walk() {
		t.Errorf("%q, %v", e.Path, err)
	}
}

func TestFree(t *testing.T) {
	s, _ := openStore(t)
	n, err := s.Free()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) || err == nil && n <= 0 {
		t.Errorf("got %d bytes and error %v", n, err)
	}
}
