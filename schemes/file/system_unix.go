//go:build unix

package file

import (
	"fmt"
	"io/fs"
	"syscall"
)

// noWait also keeps a terminal from becoming ours.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// identity tells a file from every other on this machine.
func identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%x-%x-", s.Dev, s.Ino)
	}
	return ""
}
