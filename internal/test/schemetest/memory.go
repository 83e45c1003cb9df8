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

// ListSlowly reads a listing of n entries, and sleeps for five minutes after
// every 500 entries. Call it in a synctest bubble, where time is fake.
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

// Overrides checks that the error for each reply code names the setting that
// could permit the request, as listed in want.
func Overrides(t *testing.T, refuse func(code int) error, want map[int]string) {
	t.Helper()
	for code, setting := range want {
		if got := override.Of(refuse(code)).String(); got != setting {
			t.Errorf("%d: got %q, want %q", code, got, setting)
		}
	}
}
