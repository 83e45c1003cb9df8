//go:build soak

package crash

import "testing"

// TestSoakKillPoints is TestKillPoints with a kill before each call.
func TestSoakKillPoints(t *testing.T) { killPoints(t, 0) }
