package console

import (
	"math"
	"runtime/debug"
)

// SaveMemory sets the soft memory limit in bytes above which garbage is
// collected more often, unless GOMEMLIMIT is set. Memory in use may exceed the
// limit. The returned function restores the earlier value.
func SaveMemory(from int64) (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	earlier := debug.SetMemoryLimit(from)
	return func() { debug.SetMemoryLimit(earlier) }
}
