// Package cputime measures the processor time of a test. Other than the time of a
// clock, it does not depend on what else the machine does.
package cputime

import (
	"runtime"
	"testing"
	"time"
)

// Of returns the processor time that f needs. It does not count goroutines that f
// starts.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := thread()
	f()
	return thread() - start
}

// Limit calls f. The test fails if f needs more processor time than limit.
func Limit(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	if took := Of(f); took > limit {
		t.Errorf("took %v of processor time, want at most %v", took, limit)
	}
}
