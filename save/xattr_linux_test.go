package save_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/save"
)

// TestNoAttributes checks that no extended attribute contains the URL or its
// password (CVE-2018-20483).
func TestNoAttributes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := save.Create(path, save.Options{URL: "http://alice:s3cret@h/f", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Begin(save.State{Validator: `"v"`, Size: 5}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Listxattr(path, nil); err != nil && err != unix.ENOTSUP || n > 0 {
		t.Errorf("%d bytes of attributes, %v", n, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}
