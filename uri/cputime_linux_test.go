package uri

import (
	"syscall"
	"time"
)

// threadTime returns the processor time of the current thread. It does not
// depend on other processes, unlike the time of a clock.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var r syscall.Rusage
	if err := syscall.Getrusage(thread, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
