//go:build soak && linux

package main_test

import "testing"

// TestSoakLifecycle is TestLifecycle at every system call, at a thousand
// moments and for ten gibibytes.
func TestSoakLifecycle(t *testing.T) {
	lifecycle(t, share{calls: 1000, kills: 1000, pairs: 500, body: 10 << 30})
}
