package main

import "syscall"

// peak returns the peak resident memory of a process, in bytes. It includes the
// memory of the process before exec, when the process was a copy of bench. The
// result is therefore never less than the result of minMemory.
func peak(sys any) float64 {
	if r, ok := sys.(*syscall.Rusage); ok {
		return float64(r.Maxrss << 10)
	}
	return 0
}
