package gateway

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
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

// TestLookups checks that the index lines of a URL are the same from the index
// and from memory, and which lines are kept.
func TestLookups(t *testing.T) {
	var samples []sample
	for day := range maxLookup + 1 {
		samples = append(samples, sample{time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC).Format("20060102"), "http://many.example/", "", ok("text/plain", "x")})
	}
	h := newHandler(t, func(o *Options) { o.Archives[0].Source = openSample(t, samples...) })
	c := h.archives[0]
	for url, want := range map[string]struct {
		lines int
		kept  bool
	}{
		"http://a.example/": {3, true}, "http://none.example/": {0, true}, "http://many.example/": {maxLookup + 1, false},
	} {
		u := uri.MustParse(url)
		for n := range 2 {
			count := 0
			for _, err := range c.lines(t.Context(), u) {
				if count++; err != nil {
					t.Fatal(err)
				}
			}
			if count != want.lines {
				t.Errorf("%s: call %d returned %d lines, want %d", url, n, count, want.lines)
			}
		}
		if _, kept := c.lookups.get(url); kept != want.kept {
			t.Errorf("%s: kept in memory = %v, want %v", url, kept, want.kept)
		}
	}
	u := uri.MustParse("http://a.example/moved")
	for range c.lines(t.Context(), u) {
		break
	}
	if _, kept := c.lookups.get(u.String()); kept {
		t.Error("lines were kept before all were read")
	}
}
