// Package regularfile opens regular files in folders that an untrusted party
// may have prepared. In such a folder, a named pipe could block the reader, and
// a hard link could redirect a write to another file.
package regularfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Open opens a file for reading. It returns an error if name is not a regular
// file, and does not block on named pipes.
func Open(name string) (*os.File, error) {
	return checkRegular(os.OpenFile(name, os.O_RDONLY|nonBlock, 0))
}

// OpenIn is like Open but opens a file in root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFileIn is like [os.Root.OpenFile] but returns an error if name is not a
// regular file. A file that is opened for writing must not have another hard
// link.
func OpenFileIn(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := checkRegular(root.OpenFile(name, flag&^os.O_TRUNC|nonBlock, perm))
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

// checkRegular returns f, or closes f and returns an error if it is not a
// regular file. If opening f failed with err, checkRegular returns err.
func checkRegular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", f.Name())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// CheckSingleLink returns an error if info does not describe a regular file, or
// if the file has another hard link. A write to a file with two links would
// change another file as well. name is used in the error message.
func CheckSingleLink(name string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: remove it, or use another folder", name)
	case linkCount(info) > 1:
		return fmt.Errorf("%s has another hard link: remove it, or use another folder", name)
	}
	return nil
}

// CheckFolder returns an error if name in root exists and is not a folder. It
// does not follow symbolic links.
func CheckFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder: remove it, or use another archive", name)
	}
	return err
}

// MakeFolder creates a directory and its missing parents, and commits their names
// to stable storage.
func MakeFolder(dir string) error {
	var created []string // parents of missing directories, the lowest first
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(d) == d {
			break
		}
		created = append(created, filepath.Dir(d))
	}
	err := os.MkdirAll(dir, 0o777)
	for _, d := range created {
		if err == nil {
			err = SyncNames(d)
		}
		if errors.Is(err, fs.ErrPermission) {
			err = nil // a parent that this user cannot read
		}
	}
	return err
}

// SyncNames is like SyncFolder for the directory with a path.
func SyncNames(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return SyncFolder(root)
}

// SyncFolder commits the directory entries of root to stable storage. It has no
// effect on systems that cannot sync a directory.
func SyncFolder(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// FilesIn returns the paths of the regular files in the folders of a directory whose
// names keep accepts. A folder may be missing. It must not be a symbolic link.
func FilesIn(dir string, keep func(name string) bool, folders ...string) (files []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, folder := range folders {
		if err := CheckFolder(root, folder); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		list, err := fs.ReadDir(root.FS(), folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range list {
			if keep(e.Name()) && e.Type().IsRegular() {
				files = append(files, filepath.Join(dir, folder, e.Name()))
			}
		}
	}
	return files, nil
}
