//go:build soak

package crash

import "testing"

// TestSoakKillPoints is TestKillPoints with a kill before each call.
func TestSoakKillPoints(t *testing.T) { killPoints(t, 0) }

// TestSoakPowerLoss is TestPowerLoss with a power failure at each call.
func TestSoakPowerLoss(t *testing.T) { powerLoss(t, 0, 4) }
