package save

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// A Folder makes saving several files in one folder faster. It holds the folder
// open and stores the mode of new files in it. The mode must not change: the
// umask of the process and the ACL of the folder must stay the same. A Folder
// is safe for concurrent use.
type Folder struct {
	fs   system
	mode atomic.Pointer[fs.FileMode] // nil if unknown
}

// OpenFolder opens the folder with the given name, for Options.Folder.
func OpenFolder(name string) (*Folder, error) {
	folder, _ := split(filepath.Join(name, "file")) // the same form as in Create
	s, err := openSystem(folder)
	if err != nil {
		return nil, classify(err)
	}
	return &Folder{fs: s}, nil
}

// Close closes f. It must be called after the last File in f is closed. It does
// nothing if f is nil.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return classify(f.fs.close())
}

// contains reports whether path is the path of a file in f.
func (f *Folder) contains(path string) bool {
	folder, _ := split(path)
	return f != nil && folder == f.fs.name
}
