//go:build unix

package localfile

import (
	"fmt"
	"io/fs"
	"syscall"
)

// noWait prevents an open from blocking on a named pipe. It also prevents a
// terminal from becoming the controlling terminal.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// identity returns the device and inode numbers of a file, which identify the
// file on this machine.
func identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%x-%x-", s.Dev, s.Ino)
	}
	return ""
}
