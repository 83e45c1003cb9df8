package gateway

import (
	"io"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestObjectCache checks which bodies the cache stores, and that its size has a
// limit.
func TestObjectCache(t *testing.T) {
	c := newObjectCache()
	read := func(name, body string, limit int64) {
		t.Helper()
		resp := c.record(objectKey{url: name}, &fetch.Response{Size: -1, Body: io.NopCloser(strings.NewReader(body))})
		if text, err := io.ReadAll(io.LimitReader(resp.Body, limit)); err != nil || !strings.HasPrefix(body, string(text)) {
			t.Fatalf("%s: %q, %v", name, text, err)
		}
	}
	read("complete", "text", 100)
	read("empty", "", 100)
	read("end not read", "text", 4)
	read("large", strings.Repeat("x", maxObject+1), maxObject+2)
	failing := c.record(objectKey{url: "damaged"}, &fetch.Response{
		Body: io.NopCloser(io.MultiReader(strings.NewReader("text"), &failingReader{})),
	})
	if _, err := io.ReadAll(failing.Body); err == nil {
		t.Error("the damage was not reported")
	}
	for name, want := range map[string]bool{
		"complete": true, "empty": true, "end not read": false, "large": false, "damaged": false, "unknown": false,
	} {
		resp, ok := c.get(objectKey{url: name})
		if ok != want {
			t.Errorf("%s: stored = %v, want %v", name, ok, want)
		}
		if text := "text"; name == "complete" {
			if got, err := io.ReadAll(resp.Body); string(got) != text || err != nil {
				t.Errorf("stored %q, %v", got, err)
			}
		}
	}
	for n := range 2 * maxObjects / maxObject {
		c.get(objectKey{url: "complete"})
		read(strings.Repeat("n", n+1), strings.Repeat("x", maxObject), maxObject+1)
	}
	if _, ok := c.get(objectKey{url: "n"}); ok || c.size > maxObjects || c.used.Len() != len(c.byKey) {
		t.Errorf("%d bytes in %d objects, the first one is stored: %v", c.size, len(c.byKey), ok)
	}
	if _, ok := c.get(objectKey{url: "complete"}); !ok {
		t.Error("an object that is in use was removed")
	}
}

// A failingReader reports damage.
type failingReader struct{}

func (*failingReader) Read([]byte) (int, error) { return 0, fetch.Mismatch.Errorf("damaged") }
