package arguments

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIsLocal checks which names of existing files in a mirror are local files
// and not URLs.
func TestIsLocal(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"A/fetch.db", "A/warc/1.warc.gz", "A/a.wacz", "A/page", "B/page"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"A/warc/1.warc.gz": true, "A/a.wacz": true, "A/page": false, "B/page": true, "A/warc/2.warc.gz": false,
	} {
		if got := isLocal(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
