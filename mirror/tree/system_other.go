//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tree

import (
	"os"
	"time"
)

func (f *folder) rename(name string, to *folder, newName string) error {
	return f.root.Rename(f.path+"/"+name, to.path+"/"+newName)
}

func (f *folder) chtimes(name string, t time.Time) error {
	return f.root.Chtimes(f.path+"/"+name, time.Time{}, t)
}

// syncDir does nothing: these systems make a new name durable with the file,
// or do not tell how.
func syncDir(*os.File) error { return nil }
