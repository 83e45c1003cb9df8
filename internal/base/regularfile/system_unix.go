//go:build unix

package regularfile

import (
	"io/fs"
	"syscall"
)

// nonBlock prevents blocking on a named pipe without a writer.
const nonBlock = syscall.O_NONBLOCK

// linkCount returns the number of hard links of a file.
func linkCount(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
