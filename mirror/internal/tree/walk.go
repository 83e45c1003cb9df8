package tree

import (
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/anyurl/fetch/fetch"
)

// An Entry is a file in the tree, or another object such as a symbolic link.
type Entry struct {
	Path string
	Info fs.FileInfo // file information of the object; links are not followed
}

// Walk iterates over all objects in the tree except directories. The objects
// include those that a Store does not create, such as links. The order depends
// on the file system. After an error, the iteration continues.
func (s *Store) Walk() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { s.walk(Dir, yield) }
}

func (s *Store) walk(dir string, yield func(Entry, error) bool) bool {
	f, err := openFolder(s.root, dir)
	if err != nil {
		return dir == Dir && os.IsNotExist(err) || yield(Entry{Path: trimDir(dir)}, fetch.LocalError(err))
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
			if !yield(Entry{trimDir(name), info}, fetch.LocalError(err)) {
				return false
			}
		}
		if err == io.EOF || err == nil && len(list) == 0 {
			return true
		}
		if err != nil {
			return yield(Entry{Path: trimDir(dir)}, fetch.LocalError(err))
		}
	}
}

// trimDir removes the prefix "tree/" from a path relative to the root.
func trimDir(name string) string {
	if name == Dir {
		return ""
	}
	return name[len(Dir)+1:]
}
