package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// maxOpen is the maximum number of directories that a Store keeps open.
const maxOpen = 256

// A folder is an open directory of the archive. Operations on its files do not
// resolve the path of the directory again.
type folder struct {
	root  *os.Root
	path  string // path relative to the directory of the archive
	dir   *os.File
	dirty bool // if true, names have changed since the last sync
}

// openFolder opens an existing directory. It rejects a symbolic link, because
// the link could lead to another directory in the root. The parent directory
// must be open.
func openFolder(root *os.Root, path string) (*folder, error) {
	named, err := root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.IsDir() {
		return nil, fetch.Local.Errorf("%s exists and is not a folder", path)
	}
	dir, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fetch.Local.Errorf("%s was changed by another process", path)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &folder{root: root, path: path, dir: dir}, nil
}

// folder opens the directory with the given name, which is relative to the
// root. It creates missing directories.
func (s *Store) folder(name string) (*folder, error) {
	if f, ok := s.folders[name]; ok {
		return f, nil
	}
	var around *folder
	if name != "." {
		var err error
		if around, err = s.folder(path.Dir(name)); err != nil {
			return nil, err
		}
	}
	f, err := openFolder(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.root.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if around != nil {
			around.dirty = true
		}
		f, err = openFolder(s.root, name)
	}
	if err != nil {
		return nil, err
	}
	if err := s.evict(); err != nil {
		f.close()
		return nil, err
	}
	s.folders[name] = f
	s.order = append(s.order, name)
	return f, nil
}

// evict closes the directory that was opened first, if maxOpen directories are
// open. It first syncs the directory. It never closes s.held.
func (s *Store) evict() error {
	if len(s.order) < maxOpen {
		return nil
	}
	i := 0
	f := s.folders[s.order[i]]
	if f == s.held {
		i++
		f = s.folders[s.order[i]]
	}
	if err := s.syncFolder(f); err != nil {
		return err
	}
	delete(s.folders, f.path)
	s.order = slices.Delete(s.order, i, i+1)
	return f.close()
}

// syncFolder commits changed names in a directory to stable storage.
func (s *Store) syncFolder(f *folder) error {
	if !f.dirty {
		return nil
	}
	if !s.o.NoSync {
		if err := syncDir(f.dir); err != nil {
			return err
		}
	}
	f.dirty = false
	return nil
}

func (f *folder) close() error { return f.dir.Close() }
