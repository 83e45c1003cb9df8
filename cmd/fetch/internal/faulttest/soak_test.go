//go:build soak && linux

package faulttest

import "testing"

// TestSoakLifecycle runs TestLifecycle with every system call, 1000 random
// kills and a body of 10 GiB.
func TestSoakLifecycle(t *testing.T) {
	lifecycle(t, workload{calls: 1000, kills: 1000, pairs: 500, body: 10 << 30})
}
