// Package tempdir creates temporary directories. A directory that a killed process
// has left is removed when another process creates one.
package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// marker is the name of an empty file in each temporary directory. A directory
// without it can belong to the user, whatever its name is.
const marker = "fetch-temporary-directory"

// A Dir is a temporary directory. While its process runs, other processes do not
// remove it.
type Dir struct {
	path, prefix string
	lock         *os.File // the locked directory, or nil if the system has no locks
}

// Create creates a directory in parent, with a name that starts with prefix. It also
// removes the directories with this prefix whose processes were killed. The caller
// must call Remove.
func Create(parent, prefix string) (d Dir, err error) {
	removeAbandoned(parent, prefix)
	d = Dir{prefix: prefix}
	if d.path, err = os.MkdirTemp(parent, prefix); err != nil {
		return Dir{}, err
	}
	d.lock, err = lockDir(d.path)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		err = os.WriteFile(filepath.Join(d.path, marker), nil, 0o600) // from now on, others remove the directory if they can lock it
	}
	if err != nil {
		d.removeAll()
		return Dir{}, err
	}
	return d, nil
}

// Path returns the path of the directory.
func (d Dir) Path() string { return d.path }

// Remove removes the directory. Child processes may still create files in it for a
// short time. For the same reason, Create may have left the directory of a killed
// process, which Remove tries to remove again.
func (d Dir) Remove() {
	d.removeAll()
	removeAbandoned(filepath.Dir(d.path), d.prefix)
}

// removeAll removes the directory and releases its lock.
func (d Dir) removeAll() {
	for range 100 {
		if remove(d.path) == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if d.lock != nil {
		d.lock.Close()
	}
}

// remove removes a directory, and its marker last. If remove fails, Create can try
// again.
func remove(path string) error {
	files, err := os.ReadDir(path)
	for _, f := range files {
		if f.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, f.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// removeAbandoned removes the directories in parent whose processes were killed.
// It ignores errors, because a directory may belong to another user.
func removeAbandoned(parent, prefix string) {
	files, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, f := range files {
		path := filepath.Join(parent, f.Name())
		if !f.IsDir() || !strings.HasPrefix(f.Name(), prefix) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, marker)); err != nil {
			continue
		}
		lock, err := lockDir(path)
		if err != nil {
			continue // its process runs
		}
		if isOpen(lock, path) {
			remove(path)
		}
		lock.Close()
	}
}

// isOpen reports whether path is still the name of the open directory f.
func isOpen(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}
