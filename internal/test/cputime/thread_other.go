//go:build !linux

package cputime

import "time"

var started = time.Now()

// thread returns the time since the start, because the processor time of a thread
// is not available.
func thread() time.Duration { return time.Since(started) }
