package console

import (
	"os"
	"runtime"
)

// MoreThreads permits n threads to execute Go code at the same time, or twice as
// many as the machine has processors if that is fewer. It has no effect if the
// limit is already higher, or if GOMAXPROCS is set. The returned function
// restores the earlier limit.
//
// If other programs use the processors, the kernel suspends a thread in the
// middle of a goroutine. With one thread for each processor, the other
// goroutines of the process then cannot run, although they could process
// responses that have arrived.
func MoreThreads(n int) (restore func()) {
	earlier := runtime.GOMAXPROCS(0)
	if n = min(n, 2*earlier); n <= earlier || os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(earlier) }
}
