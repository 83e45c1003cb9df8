package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestCompareFiles checks that compare verifies output files and removes them
// before the next run.
func TestCompareFiles(t *testing.T) {
	curl := peer.Need(t, "curl", "curl")
	peer.Need(t, "nginx", "nginx-light")
	for args, want := range map[string]bool{
		"-q -sS -o f --no-clobber --output-dir {dir} {url}": true, // a second file f.1 would appear if f were not removed
		"-q -sS -o f --output-dir {dir} {url} {url}":        false,
		"-q -sS {url} -o f --output-dir {dir} {url}x":       false,
	} {
		c := smallCase()
		c.Rivals = nil
		c.Fetch = strings.Fields(args)
		if rows, failed := compare(t, c, options{program: curl, runs: 2}); failed == want {
			t.Errorf("%s: rows %+v, failed %v", args, rows, failed)
		}
	}
}

func TestScratch(t *testing.T) {
	b := &block{ctx: t.Context()}
	var dir string
	b.run(func() {
		dir = scratchDir(b, false)
		for name, content := range map[string]string{"b": "2", "a/c": "1", "z": "3"} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var all strings.Builder
		if err := concatenate(&all, dir); err != nil || all.String() != "123" {
			t.Errorf("got %q, %v", all.String(), err)
		}
		if err := removeAll(dir); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after removeAll: %v, %v", left, err)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was not removed: %v", err)
	}
}
