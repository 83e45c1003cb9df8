package tree

import (
	"io"
	"io/fs"
	"iter"
	"os"
)

// An Entry is something that lies in the tree.
type Entry struct {
	Path string
	Info fs.FileInfo // of the thing itself, not of what a link leads to
}

// Walk yields all that lies in the tree but its folders: files, and what else
// should not be there. The order is that of the file system. An error is
// yielded with the path where it happened, and the rest goes on.
func (s *Store) Walk() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { s.walk(Dir, yield) }
}

func (s *Store) walk(dir string, yield func(Entry, error) bool) bool {
	f, err := openFolder(s.root, dir)
	if err != nil {
		return dir == Dir && os.IsNotExist(err) || yield(Entry{Path: below(dir)}, local(err))
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
			if !yield(Entry{below(name), info}, local(err)) {
				return false
			}
		}
		if err == io.EOF || err == nil && len(list) == 0 {
			return true
		}
		if err != nil {
			return yield(Entry{Path: below(dir)}, local(err))
		}
	}
}

// below is the path from the tree of one from the root.
func below(name string) string {
	if name == Dir {
		return ""
	}
	return name[len(Dir)+1:]
}
