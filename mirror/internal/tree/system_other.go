//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tree

import (
	"os"
	"time"
)

func (f *folder) create(name string) (*os.File, error) {
	return f.root.OpenFile(f.path+"/"+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func (f *folder) rename(name string, to *folder, newName string) error {
	return f.root.Rename(f.path+"/"+name, to.path+"/"+newName)
}

func (f *folder) chtimes(name string, t time.Time) error {
	return f.root.Chtimes(f.path+"/"+name, time.Time{}, t)
}

// syncDir has no effect. These systems sync a new name together with the file,
// or they cannot sync a directory.
func syncDir(*os.File) error { return nil }
