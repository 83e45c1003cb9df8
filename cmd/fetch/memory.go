package main

import (
	"math"
	"runtime/debug"
)

// saveMemory sets the memory in bytes above which garbage is collected more
// often, unless GOMEMLIMIT is set. This is no limit for the memory that is in
// use. The returned function restores the earlier value.
func saveMemory(from int64) (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	earlier := debug.SetMemoryLimit(from)
	return func() { debug.SetMemoryLimit(earlier) }
}
