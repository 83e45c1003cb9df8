// Package tempfile creates temporary files that do not outlive the process, even
// if it is killed.
package tempfile

import (
	"errors"
	"os"
)

// A File is an open temporary file. The caller must call Close, which removes it.
// On Unix the file has no name, so that it also disappears with the process.
type File struct {
	*os.File
	named bool // Close removes the name; after its removal, another file can have it
}

// Create creates a temporary file in dir, as [os.CreateTemp].
func Create(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return File{}, err
	}
	return File{f, os.Remove(f.Name()) != nil}, nil // Windows cannot remove an open file
}

// Close closes and removes the file.
func (f File) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
