//go:build soak

package postgres

import "testing"

// TestSoakDeadNetworks is TestDeadNetworks with a failure in every response.
func TestSoakDeadNetworks(t *testing.T) { deadNetworks(t, 1) }
