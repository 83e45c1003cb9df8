package tree

import (
	"strconv"
	"testing"
)

// TestRecent: what is asked for stays, what is not goes.
func TestRecent(t *testing.T) {
	var r recent
	r.add("used")
	r.add("unused")
	for i := range 5 * maxRecent {
		r.add(strconv.Itoa(i))
		if !r.has("used") {
			t.Fatalf("forgotten after %d", i)
		}
	}
	if r.has("unused") {
		t.Error("nothing is forgotten")
	}
	if n := len(r.young) + len(r.old); n > 2*maxRecent {
		t.Errorf("%d names are kept", n)
	}
}
