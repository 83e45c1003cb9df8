package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRootComment checks that the comment of the package in the root lists the
// public packages, because go doc has no other list of them.
func TestRootComment(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z0-9/]+) {2,}`).FindAllSubmatch(text, -1) {
		listed[string(m[1])] = true
	}
	public := map[string]bool{}
	for _, f := range files(t) {
		hidden := strings.Contains("/"+f.dir+"/", "/internal/") || isBelow(f.dir, "cmd") || f.dir == "doc" || f.dir == "."
		if !hidden && !strings.HasPrefix(f.dir, "schemes/") {
			public[f.dir] = true
		}
	}
	for dir := range public {
		if !listed[dir] {
			t.Errorf("doc.go does not list %s", dir)
		}
	}
	for dir := range listed {
		if !public[dir] {
			t.Errorf("doc.go lists %s, which is no public package", dir)
		}
	}
}
