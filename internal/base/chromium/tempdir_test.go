//go:build unix

package chromium

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestTempDir checks that a new directory replaces those of killed processes, but
// not those of running processes and other files.
func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(t.TempDir(), "kept")
	abandoned := filepath.Join(parent, dirPrefix+"1", "profile")
	for _, dir := range []string{outside, abandoned, filepath.Join(parent, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(parent, dirPrefix+"file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(abandoned, "link"), filepath.Join(parent, dirPrefix+"link")} {
		if err := os.Symlink(outside, name); err != nil {
			t.Fatal(err)
		}
	}
	first, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	second, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		filepath.Dir(abandoned): false, first.path: true, second.path: true, outside: true,
		filepath.Join(parent, "other"): true, filepath.Join(parent, dirPrefix+"file"): true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it to exist: %t", path, err, want)
		}
	}
	first.lock.Close() // as if the process were killed
	third, err := newTempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.path); err == nil {
		t.Error("the directory of a killed process remains")
	}
	if err := os.MkdirAll(abandoned, 0o700); err != nil { // as if a child of a killed process had created a file again
		t.Fatal(err)
	}
	second.remove()
	third.remove()
	if left, err := filepath.Glob(filepath.Join(parent, dirPrefix+"[0-9]*")); err != nil || len(left) > 0 {
		t.Errorf("directories %q remain: %v", left, err)
	}
}

// TestTempDirs creates directories at the same time. None may remove the directory
// of another.
func TestTempDirs(t *testing.T) {
	parent := t.TempDir()
	var all [20]tempDir
	var running sync.WaitGroup
	for i := range all {
		running.Go(func() {
			var err error
			if all[i], err = newTempDir(parent); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	for _, d := range all {
		if _, err := os.Stat(d.path); err != nil {
			t.Error(err)
		}
		d.remove()
	}
}
