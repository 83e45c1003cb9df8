//go:build linux

package save

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestListedNames checks that a Folder considers the names that it contains when
// it is opened, whether they are few or many, and names that are created later.
func TestListedNames(t *testing.T) {
	for _, others := range []int{0, maxListed + 1} {
		dir := t.TempDir()
		for i := range others {
			mustWriteFile(t, fmt.Sprintf("%s/other%d", dir, i), "")
		}
		mustWriteFile(t, dir+"/file", "old")
		mustWriteFile(t, dir+"/target", "old")
		if err := errors.Join(os.Mkdir(dir+"/folder", 0o777), os.Symlink("target", dir+"/link")); err != nil {
			t.Fatal(err)
		}
		folder, err := OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := folder.lacked(dir + "/new"); got != (others == 0) || folder.lacked(dir+"/file") || folder.lacked(dir+"/folder/new") {
			t.Errorf("%d other names: the folder lacks a name: %t", others, got)
		}
		for _, test := range []struct {
			name, file string // file is the one that has the new bytes
			existing   Existing
			want       error // of Create
		}{
			{"new", "new", Replace, nil},
			{"new", "new", Replace, nil}, // exists now
			{"new", "", Refuse, fetch.Exists},
			{"new", "new.1", Number, nil},
			{"file", "file", Replace, nil},
			{"link", "target", Replace, nil},
			{"folder", "", Replace, syscall.EISDIR},
		} {
			f, err := Create(dir+"/"+test.name, Options{Folder: folder, Existing: test.existing})
			if !errors.Is(err, test.want) {
				t.Errorf("%d other names, %s: %v, want %v", others, test.name, err, test.want)
			}
			if err != nil {
				continue
			}
			mustWrite(t, f, []byte("bytes"))
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
			if text, err := os.ReadFile(dir + "/" + test.file); string(text) != "bytes" || err != nil {
				t.Errorf("%d other names, %s: %q, %v", others, test.file, text, err)
			}
		}
		if info, err := os.Lstat(dir + "/link"); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%d other names: the link: %v, %v", others, info, err)
		}
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	}
}

func mustWriteFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
