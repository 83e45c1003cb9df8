// Package tempfile creates temporary files that do not outlive the process, even
// if it is killed.
package tempfile

import (
	"errors"
	"io/fs"
	"os"
)

// A File is an open temporary file. The caller must call Close, which removes it.
// On Unix the file has no name, so that it also disappears with the process.
type File struct{ *os.File }

// Create creates a temporary file in dir, as [os.CreateTemp].
func Create(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return File{}, err
	}
	os.Remove(f.Name()) // Windows cannot remove an open file; Close does it there
	return File{f}, nil
}

// Close closes and removes the file.
func (f File) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
