//go:build soak && linux

package mirrorcmd_test

import "testing"

// TestSoakSharedCrawl runs TestSharedCrawl with 20,000 pages of 200 hosts, 50
// kills, and ten restarts of the store in the middle of multipart uploads.
func TestSoakSharedCrawl(t *testing.T) {
	c := newSharedCrawl(t, 200, 100)
	c.padding, c.size = noise(16_000), "40M"
	chaos(t, c, disturbances{kills: 50, databases: 2, stores: 3, parts: 10})
}

// TestSoakUploadMemory runs TestUploadMemory with an object of 1 GiB.
func TestSoakUploadMemory(t *testing.T) { uploadMemory(t, 1<<30) }

// TestSoakBrowserKills runs TestBrowserKills with 20 kills and 80 pages.
func TestSoakBrowserKills(t *testing.T) { browserKills(t, 20) }
