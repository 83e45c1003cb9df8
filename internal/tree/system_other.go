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

// syncDir returns nil. These systems make a new name durable with the file, or
// they have no function that syncs a folder.
func syncDir(*os.File) error { return nil }
