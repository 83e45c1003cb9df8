package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// TestTornLog opens databases whose log lacks parts of frames, as after a power
// failure. SQLite ignores the log from such a frame on.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fetch.db")
	f := newFrontier(t, path)
	defer f.Close()
	database, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frame = 32, 24 + pageSize
	if len(log) < header+2*frame {
		t.Fatalf("the log has %d bytes", len(log))
	}
	check := func(name string, from, to int) {
		t.Helper()
		torn := bytes.Clone(log)
		clear(torn[from:to])
		copied := filepath.Join(t.TempDir(), "fetch.db")
		for suffix, text := range map[string][]byte{"": database, "-wal": torn} {
			if err := os.WriteFile(copied+suffix, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		opened, err := sqlite.Open(t.Context(), copied)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		opened.Close()
	}
	check("log without a header", 0, header)
	check("log without a salt", 16, 24)
	for at := header; at < len(log); at += frame {
		check("frame without a header", at, at+24)
		check("frame without a page", at+24, at+frame)
		check("frame with half of a page", at+24+pageSize/2, at+frame)
		check("frame without the start of its page", at+24, at+24+512)
		check("log that ends in a frame", at+24+512, len(log))
	}
}
