// Package regular opens the regular files of folders that may come from a
// stranger. A pipe in the place of a file would block its reader, and a hard
// link would lead the writer to a file elsewhere.
package regularfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Open opens the file name for reading. Anything but a regular file is an
// error, and is not waited for.
func Open(name string) (*os.File, error) {
	return checked(os.OpenFile(name, os.O_RDONLY|nonBlock, 0))
}

// OpenIn is Open in root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFileIn is the method OpenFile of root for regular files. A file that is
// opened for writing must have no other hard link.
func OpenFileIn(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := checked(root.OpenFile(name, flag&^os.O_TRUNC|nonBlock, perm))
	if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return f, err
	}
	info, err := f.Stat()
	if err == nil {
		err = CheckSingleLink(name, info)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checked returns f, or an error if it is no regular file.
func checked(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Single returns an error if the file name, of which info is known, is no
// regular file or has another hard link: what is written to it would change
// another file.
func CheckSingleLink(name string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: remove it, or use another folder", name)
	case links(info) > 1:
		return fmt.Errorf("%s has another hard link: remove it, or use another folder", name)
	}
	return nil
}

// Folder returns an error if name in root exists and is no folder. A link is
// none.
func CheckFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is no folder: remove it, or use another archive", name)
	}
	return err
}
