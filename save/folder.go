package save

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// A Folder speeds up saving several files in one folder. It keeps the folder
// open and caches the permissions of new files. The umask of the process and
// the ACL of the folder must therefore not change. A Folder is safe for
// concurrent use.
type Folder struct {
	fs   system
	mode atomic.Pointer[fs.FileMode] // nil if unknown
}

// OpenFolder opens a folder for use in Options.Folder.
func OpenFolder(name string) (*Folder, error) {
	folder, _ := split(filepath.Join(name, "file")) // the form in which Create splits a path
	s, err := openSystem(folder)
	if err != nil {
		return nil, classify(err)
	}
	return &Folder{fs: s}, nil
}

// Close closes the folder. It must be called after all Files in the folder are
// closed. It has no effect if f is nil.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return classify(f.fs.close())
}

// contains reports whether path is the path of a file in the folder.
func (f *Folder) contains(path string) bool {
	folder, _ := split(path)
	return f != nil && folder == f.fs.name
}
