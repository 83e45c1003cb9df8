//go:build soak

package sqlite_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier/frontiertest"
)

func TestSoakSuite(t *testing.T) { frontiertest.Soak(t, disk) }

// TestSoakRestart checks that a million URLs need at most 64 MiB of memory, and that
// opening their frontier takes at most a tenth of the processor time of adding them.
func TestSoakRestart(t *testing.T) {
	if added, opened := restart(t, 1_000_000); opened > added/10 {
		t.Errorf("opening took %v, adding %v", opened, added)
	}
	if peak := peakMemory(t); peak > 64<<20 {
		t.Errorf("%d MiB were resident", peak>>20)
	} else {
		t.Logf("%d MiB were resident at most", peak>>20)
	}
}

// peakMemory returns the peak resident memory of this process. It skips the
// test on systems other than Linux.
func peakMemory(t *testing.T) (bytes int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
