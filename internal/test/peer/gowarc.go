package peer

import (
	"os"
	"path/filepath"
)

// NeedGowarc returns the path of the Internet Archive's program warc. "make
// peers" builds it from the module github.com/internetarchive/gowarc. If the
// program is missing, the test is skipped. With CI=true in the environment, the
// test fails instead.
func NeedGowarc(t TB) string {
	t.Helper()
	skipShort(t, "warc")
	path := filepath.Join(unpacked, "gowarc@v0.8.101", "warc")
	if _, err := os.Stat(path); err != nil {
		skip(t, "%s is absent: make peers builds it", path)
	}
	return path
}
