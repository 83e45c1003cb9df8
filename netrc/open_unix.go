//go:build unix

package netrc

import (
	"errors"
	"io/fs"
	"syscall"
)

const (
	nonblock = syscall.O_NONBLOCK
	nofollow = syscall.O_NOFOLLOW
)

// isLink reports whether opening a file with O_NOFOLLOW failed because the file
// is a symbolic link. FreeBSD returns EMLINK, other systems return ELOOP.
func isLink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK)
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
