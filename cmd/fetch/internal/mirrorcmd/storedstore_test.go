package mirrorcmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestStoredStore checks that a worker uploads no files to a store that only
// options.json names, because an archive can come from a stranger.
func TestStoredStore(t *testing.T) {
	t.Parallel()
	db := peer.Postgres(t, false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
	defer s.Close()
	route := "::" + strings.TrimPrefix(s.URL, "http://")
	first, second, store := t.TempDir(), t.TempDir(), t.TempDir()
	commandtest.Run(t, 0, "mirror", "--output-dir", first, "--warc", "--no-tree", "--delay", "0", "--connect-to", route, "http://site.example.org/")
	text := commandtest.Content(t, filepath.Join(first, "options.json"))
	text = strings.Replace(text, "{", `{"store": "file://`+store+`",`, 1)
	commandtest.Put(t, filepath.Join(second, "options.json"), text)
	_, stderr := commandtest.RunStderr(t, 2, "mirror", "--output-dir", second, "--delay", "0", "--connect-to", route,
		"--frontier", fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl", db.Addr))
	if !strings.Contains(stderr, "--store") {
		t.Errorf("messages: %s", stderr)
	}
	if found, err := os.ReadDir(store); err != nil || len(found) > 0 {
		t.Errorf("the store has %v, %v", found, err)
	}
}
