package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

// scratchParent returns the directory for temporary files. Without disk, it
// returns /dev/shm if possible, so that the speed of the disk does not affect
// the results.
func scratchParent(disk bool) string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); !disk && err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}

// scratchDir returns a directory for the output of a program, in the directory
// that scratchParent returns.
func scratchDir(t peer.TB, disk bool) string {
	dir, err := os.MkdirTemp(scratchParent(disk), "fetch-bench-")
	if err != nil {
		t.Fatalf("bench: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// removeAll removes all files and directories in dir, but not dir.
func removeAll(dir string) error {
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range all {
		if err == nil {
			err = os.RemoveAll(path)
		}
	}
	return err
}

// concatenate writes the contents of all files below dir to w. The files are
// ordered by name. They are not read into memory, because memory below the memory
// of this process cannot be measured.
func concatenate(w io.Writer, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}
