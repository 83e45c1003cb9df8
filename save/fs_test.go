package save

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestRenameNew checks both implementations of RenameNew.
func TestRenameNew(t *testing.T) {
	for name, rename := range map[string]func(from, to string) error{"call": system{}.RenameNew, "links": linkNew} {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		for i, want := range []error{nil, fs.ErrExist} {
			if err := os.WriteFile(from, []byte{byte(i)}, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := rename(from, to); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", name, err, want)
			}
			if got, err := os.ReadFile(to); err != nil || got[0] != 0 {
				t.Errorf("%s: the new name has %v, %v", name, got, err)
			}
			if _, err := os.Lstat(from); (err == nil) != (want != nil) {
				t.Errorf("%s: the old name: %v", name, err)
			}
		}
	}
}

// TestNoLocks uses an FS without locks. A new part can be used, but an existing
// part may be in use.
func TestNoLocks(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	f, err := Create(out, Options{FS: lockless{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(out, Options{FS: lockless{}}); fetch.FaultOf(err) != fetch.InUse {
		t.Errorf("got %v, want %v", err, fetch.InUse)
	}
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
}

type lockless struct{ system }

func (lockless) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	h, err := system{}.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return withoutLock{h}, nil
}

type withoutLock struct{ Handle }

func (withoutLock) Lock() error { return errors.ErrUnsupported }
