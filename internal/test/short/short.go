// Package short selects the cases of tests that run with the flag -short.
package short

import (
	"hash/fnv"
	"io"
	"testing"
)

// Sample skips a case of a table with the flag -short, unless the case belongs to
// a sample of about one in n cases. The name of the case decides, so that each
// run selects the same cases. Without -short, all cases run.
func Sample(t *testing.T, n uint64) {
	t.Helper()
	if testing.Short() && !selects(t.Name(), n) {
		t.Skipf("about one in %d cases runs with -short", n)
	}
}

// selects reports whether the case with this name belongs to the sample of about
// one in n cases.
func selects(name string, n uint64) bool {
	h := fnv.New64a()
	io.WriteString(h, name)
	return h.Sum64()>>16%n == 0
}
