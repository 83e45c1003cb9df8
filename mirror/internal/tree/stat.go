package tree

import (
	"io/fs"
	"os"
	"path"
	"sync"
)

// A lastFolder caches the open directory of the last lstat call. Without it,
// os.Root opens every directory of the path again for each file. A lastFolder
// is safe for concurrent use. The zero value has no open directory.
type lastFolder struct {
	mu   sync.Mutex
	name string
	root *os.Root // directory name, or nil
}

// lstat returns the file information of a file in root. It does not follow a
// link at the end of the path. If another process has renamed the cached
// directory, lstat still describes the file, which is unchanged except for its
// path.
func (l *lastFolder) lstat(root *os.Root, name string) (fs.FileInfo, error) {
	dir, file := path.Split(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.root == nil || l.name != dir {
		next, err := root.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		if err := l.closeLocked(); err != nil {
			next.Close()
			return nil, err
		}
		l.name, l.root = dir, next
	}
	return l.root.Lstat(file)
}

// close closes the open directory.
func (l *lastFolder) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeLocked()
}

// closeLocked is like close. The caller must hold l.mu.
func (l *lastFolder) closeLocked() error {
	if l.root == nil {
		return nil
	}
	err := l.root.Close()
	l.root = nil
	return err
}
