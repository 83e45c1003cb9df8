//go:build soak

package mirror_test

import "testing"

// TestSoakKill is TestKill with twenty kills of each mirror.
func TestSoakKill(t *testing.T) {
	kills = 20
	TestKill(t)
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

// TestSoakCalendar checks that the number of pages of a calendar is limited.
func TestSoakCalendar(t *testing.T) { calendar.test(t) }

// TestSoakFlood is TestFlood with 1.2 million links.
func TestSoakFlood(t *testing.T) {
	floodLinks = 1_200_000
	TestFlood(t)
}
