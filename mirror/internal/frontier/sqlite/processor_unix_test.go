//go:build unix

package sqlite_test

import (
	"syscall"
	"time"
)

// processor returns the processor time of this process, which other processes
// disturb less than the wall time.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
