//go:build soak

package mirror_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/anyurl/fetch/mirror"
)

// TestSoakKill is TestKill with twenty kills of each mirror.
func TestSoakKill(t *testing.T) {
	kills = 20
	TestKill(t)
}

// TestSoakRecoverKill is TestRecoverKill with 100 kills.
func TestSoakRecoverKill(t *testing.T) {
	kills, recoveredFiles = 100, 2000
	TestRecoverKill(t)
}

// TestSoakKillLarge kills mirrors of large files, which are resumed.
func TestSoakKillLarge(t *testing.T) {
	kills = 20
	for _, form := range []string{"tree", "warc", "tree and warc"} {
		t.Run(form, func(t *testing.T) {
			s, log := startLarge(t, "40m")
			var links string
			for n := range 3 {
				s.Put(fmt.Sprintf("large/%d", n), bytes.Repeat(fmt.Appendf(nil, "large file %d\n", n), 2<<20))
				links += fmt.Sprintf("<a href=%d>", n)
			}
			s.Put("large/index.html", []byte(links))
			testKill(t, siteOf(s, "http://"+s.Addr+"/large/"), form, 4)
			if ranges := log(); ranges == 0 {
				t.Error("no request for the missing bytes")
			}
		})
	}
}

// TestSoakRecoverAfterKill is TestRecoverAfterKill with ten kills of each
// mirror.
func TestSoakRecoverAfterKill(t *testing.T) {
	kills = 30
	TestRecoverAfterKill(t)
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
		if c.name == "calendar" {
			c.guard = mirror.OverSameText // its default limit is the lower one
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

// TestSoakKillHeal is TestKillHeal with 200 kills.
func TestSoakKillHeal(t *testing.T) {
	healKills = 200
	TestKillHeal(t)
}
