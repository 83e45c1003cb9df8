package record_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
)

// TestToFile checks the file of a Recorder, and the error if it cannot be
// created.
func TestToFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "welcome\n") }))
	defer server.Close()
	dir := t.TempDir()
	existing := filepath.Join(dir, "existing.warc.gz")
	if err := os.WriteFile(existing, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		fails      bool
	}{
		{"compressed", filepath.Join(dir, "a.warc.gz"), false},
		{"not compressed", filepath.Join(dir, "a.warc"), false},
		{"existing file", existing, false},
		{"no folder", filepath.Join(dir, "none", "a.warc.gz"), true},
	} {
		client := fetch.New(fetch.Options{Policy: fetch.Typed()}, fetchhttp.Schemes(fetchhttp.Options{})...)
		r := record.ToFile(c.path, record.Options{})
		resp, err := r.HTTPClient(client).Get(server.URL)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != "welcome\n" || (err != nil) != c.fails {
			t.Errorf("%s: read %q, %v", c.name, body, err)
		}
		resp.Body.Close()
		if err := r.Close(); (err != nil) != c.fails || c.fails && !errors.Is(err, fetch.Local) {
			t.Errorf("%s: closed with %v", c.name, err)
		}
		client.Close()
		if c.fails {
			continue
		}
		n := 0
		for e, err := range warc.FileEntries(c.path) {
			if n++; err != nil || e.URL.String() != server.URL {
				t.Errorf("%s: entry %v, %v", c.name, e.URL, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d entries", c.name, n)
		}
	}
}
