package mirrorcmd

import (
	"strings"
	"testing"
)

// TestFlagList checks that a long flag of options.json, which can come from a
// stranger, does not hide the flags after it.
func TestFlagList(t *testing.T) {
	text := flagList([]string{"--include=" + strings.Repeat("ü", 2000), "--ignore-robots=true"})
	if !strings.HasSuffix(text, "ü... --ignore-robots=true") || len(text) > 300 {
		t.Errorf("got %d bytes: %s", len(text), text)
	}
}
