package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// example matches an example with its output.
var example = regexp.MustCompile(`(?s)\nfunc Example.*\n\t// (?:Output|Unordered output):`)

// withoutExample lists the public packages without an example, and the reason.
var withoutExample = map[string]string{
	".":               "has no declarations",
	"doc":             "texts for the command",
	"cmd/fetch":       "a command",
	"capture":         "its proxy is internal",
	"capture/browser": "needs Chromium",
}

// TestExamples checks that each public package has an example that go test runs.
func TestExamples(t *testing.T) {
	has := map[string]bool{}
	for _, f := range testFiles(t) {
		text, err := os.ReadFile(filepath.Join(root, f.name))
		if err != nil {
			t.Fatal(err)
		}
		if example.Match(text) {
			has[f.dir] = true
		}
	}
	public := map[string]bool{}
	for _, f := range files(t) {
		if !strings.Contains("/"+f.dir+"/", "/internal/") {
			public[f.dir] = true
		}
	}
	for dir := range public {
		if _, excepted := withoutExample[dir]; has[dir] == excepted {
			t.Errorf("%s: has an example: %t", dir, has[dir])
		}
	}
}
