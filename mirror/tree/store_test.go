package tree

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"
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
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if f.Size() != int64(len(body)) || f.Sum() != sha256.Sum256([]byte(body)) {
		t.Errorf("%d bytes, %x", f.Size(), f.Sum())
	}
	return f.Commit(path, modified)
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
	list, err := os.ReadDir(filepath.Join(dir, tmp))
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
