//go:build unix

package regularfile

import (
	"io/fs"
	"syscall"
)

// nonBlock opens a pipe without a writer at once.
const nonBlock = syscall.O_NONBLOCK

// links returns the number of hard links of a file.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
