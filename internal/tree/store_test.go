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

func open(t testing.TB) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// write puts a file into the tree.
func write(t testing.TB, s *Store, path, body string, modified time.Time) error {
	t.Helper()
	f, err := s.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if f.Size() != int64(len(body)) {
		t.Errorf("%d bytes", f.Size())
	}
	return f.Publish(path, modified)
}

func read(t testing.TB, dir, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// parts counts what is on its way.
func parts(t testing.TB, dir string) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, Tmp))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestCommit(t *testing.T) {
	s, dir := open(t)
	when := time.Date(1996, 2, 29, 1, 2, 3, 0, time.UTC)
	for _, body := range []string{"one", "two, in its place"} {
		if err := write(t, s, "http/h/a/b", body, when); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, "tree/http/h/a/b"); got != body {
			t.Errorf("got %q, want %q", got, body)
		}
	}
	if info, err := s.Stat("http/h/a/b"); err != nil || !info.ModTime().Equal(when) {
		t.Errorf("got %v, %v", info, err)
	}
	if err := s.SyncFolders(); err != nil {
		t.Error(err)
	}
	if n := parts(t, dir); n != 0 {
		t.Errorf("%d parts are left", n)
	}
}

func TestInTheWay(t *testing.T) {
	s, _ := open(t)
	for _, path := range []string{"http/h/a", "http/h/d/f"} {
		if err := write(t, s, path, "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"http/h/a/b", "http/h/d", "http/h/a/b/c"} {
		if err := write(t, s, path, "y", time.Time{}); !errors.Is(err, fetch.Local) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{"../fetch.db", "http/../../fetch.db", "/x", "", ".", "http/h/", "a//b"} {
		if err := write(t, s, path, "y", time.Time{}); err == nil {
			t.Errorf("%q was written", path)
		}
	}
	if n := left(t, s); n != 10 {
		t.Errorf("%d files are left for another attempt", n)
	}
}

// TestLeft: a file that was synced is what it was in another process, and gets
// its path there.
func TestLeft(t *testing.T) {
	s, dir := open(t)
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
	if got := read(t, dir, "tree/http/h/a"); got != "text" || left(t, other) != 0 {
		t.Errorf("got %q, and %d files are left", got, left(t, other))
	}
}

// left counts what Left yields.
func left(t testing.TB, s *Store) (n int) {
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

func TestDiscardAndClean(t *testing.T) {
	s, dir := open(t)
	f, err := s.Create("x")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := f.Open(); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
	if err := f.Discard(); err != nil || parts(t, dir) != 0 {
		t.Errorf("%v, %d parts are left", err, parts(t, dir))
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

	for range 3000 { // what a killed process left
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
		t.Error(err) // its names are taken
	} else {
		f.f.Close()
	}
	if err := other.Clean(); err != nil || parts(t, dir) != 0 {
		t.Errorf("%v, %d parts are left", err, parts(t, dir))
	}
}

func TestAttic(t *testing.T) {
	s, dir := open(t)
	if err := write(t, s, "http/h/a/b", "x", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveToAttic("http/h/a/b", "3"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "attic/3/http/h/a/b"); got != "x" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Stat("http/h/a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := s.MoveToAttic("http/h/a/b", "3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: got %v", err)
	}
	if err := s.SyncFolders(); err != nil {
		t.Error(err)
	}
}

// TestAtticDeep: neither folder of a move is closed by opening the other.
func TestAtticDeep(t *testing.T) {
	s, dir := open(t)
	s.o.NoSync = true
	deep := strings.Repeat("a/", maxOpen+20) + "f"
	for _, path := range []string{"http/h/a", deep} {
		if err := write(t, s, path, "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range []string{"http/h/a", deep} {
		if err := s.MoveToAttic(path, strconv.Itoa(i)); err != nil {
			t.Errorf("%v", err)
		}
		if got := read(t, dir, "attic/"+strconv.Itoa(i)+"/"+path); got != "x" {
			t.Errorf("got %q", got)
		}
	}
	if len(s.folders) != len(s.order) || len(s.order) > maxOpen {
		t.Errorf("%d folders are open, %d in order", len(s.folders), len(s.order))
	}
}

// TestMany has more folders than are kept open, in batches.
func TestMany(t *testing.T) {
	s, dir := open(t)
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
		t.Errorf("%d folders are open, %d in order", len(s.folders), len(s.order))
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
		t.Errorf("not found: %v", want)
	}
}

func TestConcurrent(t *testing.T) {
	s, dir := open(t)
	s.o.NoSync = true
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				path := fmt.Sprintf("http/h/%d/%d", i, g)
				if err := write(t, s, path, path, time.Unix(1, 0)); err != nil {
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
		if n++; err != nil || read(t, dir, "tree/"+e.Path) != e.Path {
			t.Errorf("%q, %v", e.Path, err)
		}
	}
	if n != 8*60 {
		t.Errorf("%d files", n)
	}
}

func TestWalkNothing(t *testing.T) {
	s, _ := open(t)
	for e, err := range s.Walk() {
		t.Errorf("%q, %v", e.Path, err)
	}
}

func TestFree(t *testing.T) {
	s, _ := open(t)
	n, err := s.Free()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) || err == nil && n <= 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
