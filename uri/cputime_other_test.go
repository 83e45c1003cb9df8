//go:build !linux

package uri

import "time"

var started = time.Now()

// threadTime returns the time since the start, because the processor time of a
// thread is not available.
func threadTime() time.Duration { return time.Since(started) }
