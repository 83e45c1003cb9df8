//go:build soak

package mirror_test

import (
	"testing"

	"github.com/anyurl/fetch/mirror"
)

// TestSoakKill is TestKill with twenty kills of each mirror.
func TestSoakKill(t *testing.T) {
	kills = 20
	TestKill(t)
}

// TestSoakRecoverKill is TestRecoverKill with 200 kills.
func TestSoakRecoverKill(t *testing.T) {
	kills, recoveredFiles = 200, 2000
	TestRecoverKill(t)
}

// TestSoakLargeListing is TestLargeListing with 100,000 links.
func TestSoakLargeListing(t *testing.T) {
	listingLinks = 100_000
	TestLargeListing(t)
}

// TestSoakMemory is TestMemory with 300 MiB.
func TestSoakMemory(t *testing.T) {
	largeBody = 300 << 20
	TestMemory(t)
}

// TestSoakTraps is TestTraps with the default limits.
func TestSoakTraps(t *testing.T) {
	for _, c := range traps {
		if c.guard == mirror.OverQueries {
			continue // the default limit takes a minute
		}
		c.limit = 10_000
		t.Run(c.name, func(t *testing.T) { c.test(t, mirror.Limits{}) })
	}
}

// TestSoakFlood is TestFlood with 1.2 million links.
func TestSoakFlood(t *testing.T) {
	floodLinks = 1_200_000
	TestFlood(t)
}

// TestSoakFlips is TestFlips with 1,000 flips.
func TestSoakFlips(t *testing.T) {
	flips = 1000
	TestFlips(t)
}
