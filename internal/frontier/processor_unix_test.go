//go:build unix

package frontier_test

import (
	"syscall"
	"time"
)

// processor is the time for which this process has had a processor: on a busy
// machine it says more than the clock.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
