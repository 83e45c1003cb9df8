package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage checks that the tables of doc/testing.md agree with
// doc/testing-results.json.
func TestPage(t *testing.T) {
	r, err := readResults("../../../" + resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../" + pageFile)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fill(string(page), r)
	if err != nil || string(page) != want {
		t.Errorf("%s differs from %s, %v: run make testing-report", pageFile, resultsFile, err)
	}
}

// TestPageTests checks that each test and each script that doc/testing.md names
// exists.
func TestPageTests(t *testing.T) {
	page, err := os.ReadFile("../../../" + pageFile)
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	err = filepath.WalkDir("../../..", func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for i, word := range strings.Split(string(page), "`") {
		if i%2 == 0 || !strings.HasPrefix(word, "Test") && !strings.HasPrefix(word, "Fuzz") {
			continue
		}
		named++
		name, _, _ := strings.Cut(word, "/")
		if !strings.Contains(source.String(), "func "+name+"(") {
			t.Errorf("%s names %s, which does not exist", pageFile, word)
		}
	}
	if named < 10 {
		t.Errorf("%s names %d tests, want at least 10", pageFile, named)
	}
}

// TestMerge checks that new figures replace the old ones of the same layer and
// scope, and that figures of the same measure are added.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	lines := `{"layer":"a","measure":"kills","value":3,"scope":"test","test":"TestA"}
{"layer":"a","measure":"kills","value":4,"scope":"test","test":"TestB"}
{"layer":"mutants","measure":"x/y: killed","value":1,"scope":"test","test":""}
{"layer":"mutants","measure":"x/y: survived","value":1,"scope":"test","test":""}
`
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	rows, err := readFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows = merge([]Row{{"a", "kills", "test", 1, "old"}, {"a", "old", "test", 1, "old"}, {"a", "kills", "soak", 90, "old"}}, rows, "new")
	got := table("a", Results{Rows: rows})
	want := "| | `make test` | `make soak` |\n|---|---:|---:|\n| kills | 7 | 90 |\n\nMeasured on new and old.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := table("mutants", Results{Rows: rows}); !strings.Contains(got, "| `x/y` | 2 | 1 | 1 | 50 % | 0 | 0 | new |") {
		t.Error(got)
	}
}
