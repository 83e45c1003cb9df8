//go:build soak

package mirror_test

import "testing"

// TestSoakSimulatedCrawl is TestSimulatedCrawl with 100,000 seeds by default.
func TestSoakSimulatedCrawl(t *testing.T) { simulate(t, *firstSimulation, *lastSimulation) }
