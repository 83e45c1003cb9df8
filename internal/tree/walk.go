package tree

import (
	"io"
	"io/fs"
	"iter"
	"os"
)

// An Entry is a file or another object in the tree.
type Entry struct {
	Path string
	Info fs.FileInfo // properties of the object; links are not followed
}

// Walk returns all objects in the tree except folders, including objects that a
// Store does not create. The order depends on the file system. Walk returns
// an error with its path and continues.
func (s *Store) Walk() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { s.walk(Dir, yield) }
}

func (s *Store) walk(dir string, yield func(Entry, error) bool) bool {
	f, err := openFolder(s.root, dir)
	if err != nil {
		return dir == Dir && os.IsNotExist(err) || yield(Entry{Path: trimDir(dir)}, classify(err))
	}
	defer f.close()
	for {
		list, err := f.dir.ReadDir(1024)
		for _, d := range list {
			name := dir + "/" + d.Name()
			if d.IsDir() {
				if !s.walk(name, yield) {
					return false
				}
				continue
			}
			info, err := d.Info()
			if !yield(Entry{trimDir(name), info}, classify(err)) {
				return false
			}
		}
		if err == io.EOF || err == nil && len(list) == 0 {
			return true
		}
		if err != nil {
			return yield(Entry{Path: trimDir(dir)}, classify(err))
		}
	}
}

// trimDir converts a path relative to the root to a path relative to the tree.
func trimDir(name string) string {
	if name == Dir {
		return ""
	}
	return name[len(Dir)+1:]
}
