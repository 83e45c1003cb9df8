package postgres

import (
	"fmt"
	"testing"
)

// TestSkippedHosts verifies that the set of skipped hosts is bounded.
func TestSkippedHosts(t *testing.T) {
	var s skippedHosts
	for i := range MaxSkipped {
		if !s.add(fmt.Sprint("host", i)) {
			t.Fatalf("host %d was not added", i)
		}
	}
	if s.add("another") {
		t.Error("a host was added beyond the limit")
	}
	if !s.add("host0") || len(s.names()) != MaxSkipped {
		t.Errorf("%d hosts, want %d", len(s.names()), MaxSkipped)
	}
}
