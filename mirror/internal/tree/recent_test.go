package tree

import (
	"strconv"
	"testing"
)

// TestRecent checks that a recent keeps names in use and drops unused names.
func TestRecent(t *testing.T) {
	const maxRecent = 100
	r := recent[int]{max: maxRecent}
	r.add("used", 1)
	r.add("unused", 2)
	for i := range 5 * maxRecent {
		r.add(strconv.Itoa(i), i)
		if v, ok := r.get("used"); !ok || v != 1 {
			t.Fatalf("used name was dropped after %d names", i)
		}
	}
	if _, ok := r.get("unused"); ok {
		t.Error("unused name was not dropped")
	}
	if n := len(r.young) + len(r.old); n > 2*maxRecent {
		t.Errorf("got %d names, want at most %d", n, 2*maxRecent)
	}
}
