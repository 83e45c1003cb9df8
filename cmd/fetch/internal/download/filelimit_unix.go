//go:build unix

package download

import (
	"math"
	"syscall"
)

// openFileLimit returns the maximum number of open files of the process.
func openFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
