package schemetest

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// ConstantMemory retrieves a body of the given size and fails the test if the
// heap grows by more than 16 MiB.
func ConstantMemory(t *testing.T, c *fetch.Client, req *fetch.Request, size int64) {
	t.Helper()
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, resp.Body)
	runtime.ReadMemStats(&after)
	if n != size || err != nil {
		t.Errorf("got %d bytes, %v, want %d", n, err, size)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
}

// ListSlowly reads a listing of n entries, and pauses for five minutes after
// every 500 of them. It is for the fake time of a synctest bubble.
func ListSlowly(t *testing.T, resp *fetch.Response, n int) {
	t.Helper()
	got := 0
	for _, err := range resp.Entries() {
		if got++; err != nil {
			t.Fatalf("entry %d: %v", got, err)
		}
		if got%500 == 0 {
			time.Sleep(5 * time.Minute)
		}
	}
	if got != n {
		t.Errorf("got %d entries, want %d", got, n)
	}
}

// Overrides checks which setting the error for each reply code names.
func Overrides(t *testing.T, refuse func(code int) error, want map[int]string) {
	t.Helper()
	for code, setting := range want {
		if got := override.Of(refuse(code)).String(); got != setting {
			t.Errorf("%d: got %q, want %q", code, got, setting)
		}
	}
}
