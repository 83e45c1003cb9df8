package chromium

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// dirPrefix starts the names of temporary directories of browsers.
const dirPrefix = "fetch-browser-"

// A tempDir is a temporary directory for a browser. While its lock is
// held, other processes do not remove it.
type tempDir struct {
	path string
	lock *os.File // the locked directory, or nil if the system has no locks
}

// newTempDir creates a directory in parent. It also removes the directories of
// processes that were killed.
func newTempDir(parent string) (tempDir, error) {
	removeAbandoned(parent)
	for range 10 {
		path, err := os.MkdirTemp(parent, dirPrefix)
		if err != nil {
			return tempDir{}, err
		}
		lock, err := lockDir(path)
		switch {
		case err == nil && isOpen(lock, path):
			return tempDir{path, lock}, nil
		case errors.Is(err, errors.ErrUnsupported):
			return tempDir{path: path}, nil
		case err == nil:
			lock.Close()
		case !errors.Is(err, errLocked) && !errors.Is(err, os.ErrNotExist):
			os.Remove(path)
			return tempDir{}, err
		}
		// Another process considered the directory abandoned before it was locked.
	}
	return tempDir{}, errors.New("other processes remove the temporary directory of the browser")
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

// removeAbandoned removes the directories in parent whose processes were killed.
// It ignores errors, because a directory may belong to another user.
func removeAbandoned(parent string) {
	found, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range found {
		lock, err := lockDir(path)
		if err != nil {
			continue // its process runs
		}
		if isOpen(lock, path) {
			os.RemoveAll(path)
		}
		lock.Close()
	}
}

// remove removes the directory. Child processes of the browser may still create
// files in it for a short time. For the same reason, newTempDir may have left the
// directory of a killed process, which remove tries to remove again.
func (d *tempDir) remove() {
	for range 100 {
		if os.RemoveAll(d.path) == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if d.lock != nil {
		d.lock.Close()
	}
	removeAbandoned(filepath.Dir(d.path))
}
