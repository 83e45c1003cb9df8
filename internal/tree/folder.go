package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// maxOpen is how many folders a Store keeps open.
const maxOpen = 256

// A folder is an open folder of the archive. Names in it are used without its
// path being walked again.
type folder struct {
	root  *os.Root
	path  string // from root
	dir   *os.File
	dirty bool // a name in it has changed since it was synced
}

// openFolder opens a folder that is there. One that is a link is refused: a
// root lets none lead out of it, but neither may it lead elsewhere within. The
// folder around it has been opened so before.
func openFolder(root *os.Root, path string) (*folder, error) {
	named, err := root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.IsDir() {
		return nil, fetch.Local.Errorf("%s is in the way of a folder", path)
	}
	dir, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fetch.Local.Errorf("%s was changed by somebody else", path)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &folder{root: root, path: path, dir: dir}, nil
}

// folder returns the folder at name, from the root, made with those around it
// where it is not there.
func (s *Store) folder(name string) (*folder, error) {
	if f, ok := s.folders[name]; ok {
		return f, nil
	}
	var around *folder
	if above := path.Dir(name); above != "." {
		var err error
		if around, err = s.folder(above); err != nil {
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

// evict closes the folder that was opened first, if there are many.
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

// syncFolder makes the names in f durable.
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
