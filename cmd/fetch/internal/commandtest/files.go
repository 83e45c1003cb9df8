package commandtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/testdir"
)

// Folder returns a new folder that all users may read. If possible, it is
// in memory, because these tests sync very often.
func Folder(t *testing.T) string {
	t.Helper()
	dir, err := testdir.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// FileNames returns the file names in a folder, separated by spaces.
func FileNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Content returns the contents of a file, or "" if the file does not exist.
func Content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// Put writes a file.
func Put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
