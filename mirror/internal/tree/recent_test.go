package tree

import (
	"strconv"
	"testing"
)

// TestRecent checks that a recent keeps names in use and drops unused names.
func TestRecent(t *testing.T) {
	var r recent
	r.add("used")
	r.add("unused")
	for i := range 5 * maxRecent {
		r.add(strconv.Itoa(i))
		if !r.has("used") {
			t.Fatalf("used name was dropped after %d names", i)
		}
	}
	if r.has("unused") {
		t.Error("unused name was not dropped")
	}
	if n := len(r.young) + len(r.old); n > 2*maxRecent {
		t.Errorf("got %d names, want at most %d", n, 2*maxRecent)
	}
}
