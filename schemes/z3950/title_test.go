package z3950

import (
	"runtime"
	"strings"
	"testing"
)

// TestTitleMemory searches for the title of a large XML record with millions of
// attributes. A listing has many such records.
func TestTitleMemory(t *testing.T) {
	record := []byte("<record " + strings.Repeat(`a=""`, recordSize/4) + "><title>x</title></record>")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	xmlTitle(record)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*recordSize {
		t.Errorf("%d MiB allocated", used>>20)
	}
}
