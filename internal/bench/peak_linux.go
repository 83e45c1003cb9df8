package main

import "syscall"

// peak returns the most memory that a process had resident, in bytes. The
// kernel counts what the process was before it executed its program too, so
// nothing can seem smaller than this program, whose size floor tells.
func peak(sys any) float64 {
	if r, ok := sys.(*syscall.Rusage); ok {
		return float64(r.Maxrss << 10)
	}
	return 0
}
