//go:build soak

package mirror_test

import "testing"

// TestSoakKill is TestKill with twenty kills of each mirror.
func TestSoakKill(t *testing.T) {
	kills = 20
	TestKill(t)
}
