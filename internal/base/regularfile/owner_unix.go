//go:build unix

package regularfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const maxLinks = 40 // the same limit as in the Linux kernel

// OwnTarget returns the path of a file after all symbolic links of its name, and
// reports whether the file belongs to the user of this process. A missing file does.
// Each link must belong to this user or to root, because its owner chooses the file.
func OwnTarget(name string) (target string, owned bool, err error) {
	for range maxLinks {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, true, nil
		case err != nil:
			return "", false, err
		case info.Mode().Type() != fs.ModeSymlink:
			return name, ownerOf(info) == os.Geteuid(), nil
		case ownerOf(info) != 0 && ownerOf(info) != os.Geteuid():
			return "", false, nil
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(name)
			if dir == "" {
				dir = "." + string(filepath.Separator)
			}
			link = dir + link // filepath.Join would remove x/.. even if x is a link
		}
		name = link
	}
	return "", false, &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
}

// OpenOwn opens a regular file for reading. The file must belong to the user of this
// process or to root.
func OpenOwn(name string) (*os.File, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && ownerOf(info) != 0 && ownerOf(info) != os.Geteuid() {
		err = fmt.Errorf("%s belongs to another user", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ownerOf returns the number of the user to whom a file belongs.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return os.Geteuid()
}
