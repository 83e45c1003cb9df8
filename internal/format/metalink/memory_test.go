package metalink

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestAttributes parses a document with millions of attributes, each of which
// needs many times its bytes in memory.
func TestAttributes(t *testing.T) {
	text := "<metalink " + strings.Repeat(`a=""`, (MaxDocument-100)/4) + "></metalink>"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse(strings.NewReader(text), uri.MustParse("http://a.example/x.meta4"))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, fetch.TooLarge) || used > 10*MaxDocument {
		t.Errorf("%d MiB allocated: %v", used>>20, err)
	}
}
