// Package warctest creates WARC files for tests.
package warctest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/warc"
)

// Open creates a WARC file in a temporary folder, calls write for its records, and
// opens it. It sets the Name of opts. The result is closed at the end of the test.
func Open(t testing.TB, opts warc.Options, write func(*warc.Writer)) *warc.Archive {
	t.Helper()
	opts.Name = "sample.warc.gz"
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, opts)
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := warc.Open(filepath.Join(dir, opts.Name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}
