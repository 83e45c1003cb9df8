package postgres

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestSkippedHosts verifies that the set of skipped hosts is bounded.
func TestSkippedHosts(t *testing.T) {
	var s skippedHosts
	for i := range frontier.MaxSkipped {
		if !s.add(fmt.Sprint("host", i)) {
			t.Fatalf("host %d was not added", i)
		}
	}
	if s.add("another") {
		t.Error("a host was added beyond the limit")
	}
	if !s.add("host0") || len(s.names()) != frontier.MaxSkipped {
		t.Errorf("%d hosts, want %d", len(s.names()), frontier.MaxSkipped)
	}
}
