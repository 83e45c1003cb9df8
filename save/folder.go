package save

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// A Folder spares the files that are saved in it what is the same for all of
// them: it is held open, so that the way to it is not walked again by every
// call, and it remembers which mode a new file gets there, as long as the
// umask of the process and the ACL of the folder stay what they are. It is
// safe for concurrent use.
type Folder struct {
	fs   system
	mode atomic.Pointer[fs.FileMode] // nil: not known yet
}

// OpenFolder opens the folder of that name, for Options.
func OpenFolder(name string) (*Folder, error) {
	folder, _ := split(filepath.Join(name, "file")) // as Create has it of a path
	s, err := openSystem(folder)
	if err != nil {
		return nil, classify(err)
	}
	return &Folder{fs: s}, nil
}

// Close ends f, after the last File in it. It is nothing for a nil Folder.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return classify(f.fs.close())
}

// holds reports whether path is one of a file in f.
func (f *Folder) contains(path string) bool {
	folder, _ := split(path)
	return f != nil && folder == f.fs.name
}
