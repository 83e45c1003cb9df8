//go:build unix

package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// IsOwn reports whether a file belongs to the user of this process. A missing
// file does. A symbolic link must belong to this user or to root, because its owner
// chooses the file.
func IsOwn(name string) (bool, error) {
	link, err := os.Lstat(name)
	if err == nil && link.Mode().Type() == fs.ModeSymlink && ownerOf(link) != 0 && ownerOf(link) != os.Geteuid() {
		return false, nil
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return ownerOf(info) == os.Geteuid(), nil
}

// ownerOf returns the number of the user to whom a file belongs.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return os.Geteuid()
}
