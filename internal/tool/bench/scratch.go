package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

// scratchDir returns a directory for the output of a program. It uses /dev/shm
// if possible, so that the speed of the disk does not affect the results.
func scratchDir(t peer.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "fetch-bench-")
	if err != nil {
		dir, err = os.MkdirTemp("", "fetch-bench-")
	}
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
// ordered by name. They are not read into memory, because memory below that of
// this process cannot be measured.
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
