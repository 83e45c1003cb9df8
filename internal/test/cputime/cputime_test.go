package cputime

import (
	"testing"
	"time"
)

// TestOf measures a function that needs the processor for some time.
func TestOf(t *testing.T) {
	const least = 20 * time.Millisecond
	if took := Of(func() {
		for start := thread(); thread()-start < least; {
		}
	}); took < least {
		t.Errorf("took %v, want at least %v", took, least)
	}
}
