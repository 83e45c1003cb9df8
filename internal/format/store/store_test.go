package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/storetest"
)

// TestFolder checks the store of a directory.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenFolder("file://" + filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, s)
	if rest, err := os.ReadDir(filepath.Join(dir, ".fetch-uploads")); err != nil || len(rest) > 0 {
		t.Errorf("files remain: %v, %v", rest, err)
	}
	if err := storetest.Put(s, ".fetch-uploads/a", ""); fetch.FaultOf(err) != fetch.Usage {
		t.Error(err)
	}
	if err := errors.Join(os.Symlink("once", filepath.Join(dir, "link")), os.Symlink("/etc/passwd", filepath.Join(dir, "out"))); err != nil {
		t.Skip(err)
	}
	if _, err := storetest.Get(s, "out"); err == nil {
		t.Error("a link to a file outside the directory was followed")
	}
	if got := storetest.Names(t, s, "link"); got != nil {
		t.Errorf("links are objects: %q", got)
	}
}

// failingReader returns an error after its bytes.
type failingReader struct{ bytes.Reader }

func (r *failingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	if err == io.EOF {
		err = os.ErrPermission
	}
	return n, err
}

// TestFolderErrors checks errors of directories and sources.
func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		url  string
		want fetch.Fault
	}{
		{"file://" + dir + "/none", fetch.Local},
		{"file://host/x", fetch.Usage},
		{"file:x", fetch.Usage},
		{"file:///x?y", fetch.Usage},
		{"http://x/", fetch.Usage},
		{dir, fetch.Usage},
		{"%", fetch.Usage},
	} {
		if _, err := store.OpenFolder(c.url); fetch.FaultOf(err) != c.want {
			t.Errorf("%s: %v", c.url, err)
		}
	}
	s, err := store.OpenFolder("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &failingReader{*bytes.NewReader([]byte("text"))}
	if err := s.Put(context.Background(), "a", r, 8, [32]byte{}); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := storetest.Put(s, "file/a", "text"); fetch.FaultOf(err) != fetch.Local {
		t.Error(err)
	}
	if got := storetest.Names(t, s, ""); !slices.Equal(got, []string{"file"}) {
		t.Errorf("got %q", got)
	}
}
