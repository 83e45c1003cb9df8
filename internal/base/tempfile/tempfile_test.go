package tempfile_test

import (
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/anyurl/fetch/internal/base/tempfile"
)

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	f, err := tempfile.Create(dir, "a-*")
	if err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); runtime.GOOS != "windows" && (err != nil || len(names) > 0) {
		t.Errorf("the open file has a name, which a killed process would leave: %v, %v", names, err)
	}
	if _, err := io.WriteString(f, "text"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(io.NewSectionReader(f, 0, 100)); err != nil || string(b) != "text" {
		t.Errorf("the file contains %q, %v", b, err)
	}
	other := 0 // files of others that have taken the name
	if runtime.GOOS != "windows" {
		other = 1
		if err := os.WriteFile(f.Name(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != other {
		t.Errorf("after Close: %v, %v; want %d files of others", names, err, other)
	}
	if _, err := tempfile.Create(dir+"/missing", "a-*"); err == nil {
		t.Error("a file was created in a missing directory")
	}
}
