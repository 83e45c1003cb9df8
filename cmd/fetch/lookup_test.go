package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/internal/peer"
)

// mirrorOne mirrors one URL with a WARC file, verifies the archive, and returns
// the text of the WARC file.
func mirrorOne(t *testing.T, url string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	runFetch(t, 0, append(append([]string{"mirror", "--warc"}, args...), "--output-dir", dir, url)...)
	runFetch(t, 0, "verify", dir)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no WARC file: %v", err)
	}
	var all []byte
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return string(all)
}

// TestFinger retrieves the information about a user of a finger server.
func TestFinger(t *testing.T) {
	s := peer.Fingerd(t)
	s.PutHome(".plan", []byte("Sail to Vinland.\n"))
	url := "finger://" + s.Addr + "/" + peer.User
	contains(t, runFetch(t, 0, url), "Login: alice", "Sail to Vinland.\r\n")
	contains(t, runFetch(t, 0, "info", url), "text/plain")
	contains(t, runFetch(t, 0, "plan", "finger://h/w/alice"), "send /W alice")
	contains(t, mirrorOne(t, url), "Sail to Vinland.\r\n", "WARC-Target-URI: "+url)
	runFetch(t, 8, "finger://"+s.Addr+"/nobody-of-this-name")
	runFetch(t, 12, "ls", url)
}
