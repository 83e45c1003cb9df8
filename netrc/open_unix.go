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

// isLink reports whether err is that of O_NOFOLLOW at a symbolic link. FreeBSD
// says EMLINK where POSIX says ELOOP.
func isLink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK)
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
