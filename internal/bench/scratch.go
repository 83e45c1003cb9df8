package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// scratch makes a directory for what a program writes, in memory where the
// system has such a place: the time of a disk is not the program's.
func scratch(b *block) string {
	dir, err := os.MkdirTemp("/dev/shm", "fetch-bench-")
	if err != nil {
		dir, err = os.MkdirTemp("", "fetch-bench-")
	}
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// empty removes all that is in dir.
func empty(dir string) error {
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range all {
		if err == nil {
			err = os.RemoveAll(path)
		}
	}
	return err
}

// joined writes the files below dir one behind the other, in the order of
// their names.
func joined(w io.Writer, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	})
}
