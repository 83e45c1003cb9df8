//go:build unix

package tempdir_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/base/tempdir"
)

const prefix = "fetch-browser-"

func create(t *testing.T, parent string) tempdir.Dir {
	d, err := tempdir.Create(parent, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCreate checks that a new directory replaces those of killed processes, but not
// those of running processes and of the user.
func TestCreate(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(t.TempDir(), "kept")
	const marker = "fetch-temporary-directory"
	abandoned := filepath.Join(parent, prefix+"1")
	ofUser, empty := filepath.Join(parent, prefix+"2"), filepath.Join(parent, prefix+"3")
	for _, dir := range []string{outside, filepath.Join(abandoned, "profile"), filepath.Join(parent, "other"), ofUser, empty} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(abandoned, marker), filepath.Join(outside, marker), filepath.Join(ofUser, "fetch.db"), filepath.Join(parent, prefix+"file")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(abandoned, "profile", "link"), filepath.Join(parent, prefix+"link")} {
		if err := os.Symlink(outside, name); err != nil {
			t.Fatal(err)
		}
	}
	first, second := create(t, parent), create(t, parent)
	for path, want := range map[string]bool{
		abandoned: false, first.Path(): true, second.Path(): true, filepath.Join(outside, marker): true,
		filepath.Join(parent, "other"): true, filepath.Join(parent, prefix+"file"): true,
		filepath.Join(ofUser, "fetch.db"): true, empty: true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it to exist: %t", path, err, want)
		}
	}
	if err := os.MkdirAll(abandoned, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abandoned, marker), nil, 0o600); err != nil { // as if a process had been killed now
		t.Fatal(err)
	}
	first.Remove()
	second.Remove()
	for _, path := range []string{abandoned, first.Path(), second.Path()} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s remains", path)
		}
	}
}

// TestCreateConcurrently creates directories at the same time. None may remove the
// directory of another.
func TestCreateConcurrently(t *testing.T) {
	parent := t.TempDir()
	var all [20]tempdir.Dir
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			var err error
			if all[i], err = tempdir.Create(parent, prefix); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	for _, d := range all {
		if _, err := os.Stat(d.Path()); err != nil {
			t.Error(err)
		}
		d.Remove()
	}
}
