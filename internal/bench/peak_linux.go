package main

import "syscall"

// peak returns the maximum resident memory of a process, in bytes. It includes
// the time between fork and exec, when the process is a copy of bench. The
// result is therefore never smaller than the result of minMemory.
func peak(sys any) float64 {
	if r, ok := sys.(*syscall.Rusage); ok {
		return float64(r.Maxrss << 10)
	}
	return 0
}
