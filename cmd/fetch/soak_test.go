//go:build soak && linux

package main_test

import "testing"

// TestSoakLifecycle runs TestLifecycle with every system call, 1000 random
// kills and a body of 10 GiB.
func TestSoakLifecycle(t *testing.T) {
	lifecycle(t, workload{calls: 1000, kills: 1000, pairs: 500, body: 10 << 30})
}

// TestSoakSharedCrawl runs TestSharedCrawl with 20,000 pages of 200 hosts, 50
// kills, and ten restarts of the store in the middle of multipart uploads.
func TestSoakSharedCrawl(t *testing.T) {
	c := newSharedCrawl(t, 200, 100)
	c.padding, c.size = noise(16_000), "40M"
	chaos(t, c, disturbances{kills: 50, databases: 2, stores: 3, parts: 10})
}

// TestSoakUploadMemory runs TestUploadMemory with an object of 1 GiB.
func TestSoakUploadMemory(t *testing.T) { uploadMemory(t, 1<<30) }
