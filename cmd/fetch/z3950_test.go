package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestZ3950 searches a database of yaz-ztest, fetches a record that was found,
// and mirrors a search.
func TestZ3950(t *testing.T) {
	s := peer.Yaz(t)
	url := "z39.50s://" + s.Addr + "/Default"
	contains(t, runFetch(t, 0, "search", url, "3whale"), "document          305 -", "How to program a computer\n")
	found := strings.Fields(runFetch(t, 0, "search", "--urls", url, "3whale", "title:2x"))
	if len(found) != 3 && len(found) != 2 {
		t.Fatalf("search: got %q", found)
	}
	contains(t, runFetch(t, 0, found[0]), "245 10 $a How to program a computer\n")
	if got := runFetch(t, 0, "-r", "0-2", found[0]); got != "LDR" {
		t.Errorf("range: got %q", got)
	}
	contains(t, runFetch(t, 0, "plan", found[0]), "init\nsearch Default \"3whale\" @attr 1=4 \"2x\"\npresent 1\n")
	contains(t, runFetch(t, 0, "info", url), `"server":["GFS/YAZ"]`)
	contains(t, runFetch(t, 0, "help", "z39.50r"), "RFC 2056")
	runFetch(t, 2, url)
	runFetch(t, 2, url+"?a%0d%0ab")
	runFetch(t, 8, "z39.50r://"+s.Addr+"/nosuch?1")

	dir := filepath.Join(t.TempDir(), "archive")
	runFetch(t, 0, "mirror", "--warc", "--output-dir", dir, url+"?3whale")
	var records int
	filepath.WalkDir(filepath.Join(dir, "tree"), func(path string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); strings.HasPrefix(string(text), "LDR ") {
			records++
		}
		return err
	})
	if warcs, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz")); records != 3 || len(warcs) == 0 {
		t.Errorf("the mirror has %d records, and the WARC files %v", records, warcs)
	}
	runFetch(t, 0, "verify", dir)
	contains(t, runFetch(t, 0, "--archive", dir, url+"?3whale;n=1"), "245 10 $a How to program a computer\n")
	contains(t, runFetch(t, 0, "ls", "--archive", dir, url+"?3whale"), "How to program a computer\n")
}
