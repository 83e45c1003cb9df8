//go:build soak

package torture

import "testing"

// TestSoakSweep fails every operation of every scenario.
func TestSoakSweep(t *testing.T) { sweep(t, 1) }
