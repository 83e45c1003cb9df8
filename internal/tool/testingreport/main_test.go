package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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
	if got := table("mutants", Results{Rows: rows}); !strings.Contains(got, "| `x/y` | 2 | 1 | 1 | 50 % | 0 | 0 | 0 | new |") {
		t.Error(got)
	}
}

// TestBugsTable checks that a run of one bug keeps the results of the others, and
// that those of a removed patch disappear.
func TestBugsTable(t *testing.T) {
	old := []Row{{"seeded bugs", "a: caught", "test", 1, "old"}, {"seeded bugs", "a: seconds", "test", 9, "old"},
		{"seeded bugs", "b: caught", "test", 1, "old"}, {"seeded bugs", "removed: caught", "test", 1, "old"}}
	patches := []string{"x/a.patch", "x/b.patch", "x/c.patch"}
	old = addUnmeasured(existingBugs(old, patches), patches, "new")
	rows := merge(old, []Row{{"seeded bugs", "b: caught", "test", 0, ""}, {"seeded bugs", "b: seconds", "test", 1200, ""}}, "new")
	want := "Tests caught 1 of 3 bugs.\n\n| patch | result | seconds | date |\n|---|---|---:|---|\n" +
		"| `a` | caught | 9 | old |\n| `b` | **missed** | 1,200 | new |\n| `c` | not measured | 0 | new |\n"
	if got := table("seeded bugs", Results{Rows: rows}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBugsMeasured checks that the page has a line for each patch.
func TestBugsMeasured(t *testing.T) {
	r, err := readResults("../../../" + resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob("../../../" + bugFiles)
	if err != nil || len(patches) == 0 {
		t.Fatal(patches, err)
	}
	for _, p := range patches {
		name := strings.TrimSuffix(filepath.Base(p), ".patch")
		if !slices.ContainsFunc(r.Rows, func(r Row) bool { return r.Layer == bugsLayer && r.Measure == name+caught }) {
			t.Errorf("%s has no line: run go run ./internal/tool/seededbugs -results bin/results -run %s, then make testing-report", p, name)
		}
	}
}

// TestFuzzTable checks the counts of stored inputs and the coverage of targets.
func TestFuzzTable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p/p_test.go":               "package p\n\nfunc FuzzA(f *testing.F) {}\nfunc FuzzB(f *testing.F) {}\nfunc Fuzz(f *testing.F, more int) {}\n",
		"p/testdata/fuzz/FuzzA/one": "x",
		"p/testdata/fuzz/FuzzA/two": "x",
		"q/r/r_test.go":             "package r\n\nfunc FuzzC(f *testing.F) {}\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	rows, err := count(".")
	if err != nil {
		t.Fatal(err)
	}
	rows = merge([]Row{{"fuzz coverage", "p: FuzzA: covered", "test", 1, "old"}, {"fuzz coverage", "p: FuzzB: covered", "test", 5, "old"},
		{"fuzz coverage", "p: FuzzB: statements", "test", 10, "old"}, {"fuzz coverage", "p: FuzzRemoved: statements", "test", 10, "old"}},
		append(rows, Row{"fuzz runs", "p: FuzzA: executions", "test", 1234, ""}, Row{"fuzz runs", "p: FuzzA: failures", "test", 1, ""},
			Row{"fuzz runs", "p: FuzzA: seconds", "test", 10, ""}, Row{"fuzz runs", "p: FuzzB: executions", "test", 1000, ""},
			Row{"fuzz runs", "p: FuzzRemoved: executions", "test", 9, ""}, Row{"fuzz coverage", "p: FuzzA: inputs", "test", 4, ""}, Row{"fuzz coverage", "p: FuzzA: covered", "test", 2, ""},
			Row{"fuzz coverage", "p: FuzzA: statements", "test", 2000, ""}), "new")
	want := "| package | fuzz target | stored inputs | with those in the source | statements reached | of | share | executions |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|\n" +
		"| `p` | FuzzA | 2 | 4 | 2 | 2,000 | 0 % | 1,234 |\n|  | FuzzB | 0 | 0 | 5 | 10 | 50 % | 1,000 |\n| `q/r` | FuzzC | 0 | | | | | |\n"
	if got := table("fuzz", Results{Rows: rows}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "| | `make fuzz` |\n|---|---:|\n| targets | 2 |\n| executions | 2,234 |\n| targets that failed | 1 |\n| seconds | 10 |\n\nMeasured on new.\n"
	if got := table("fuzz runs", Results{Rows: rows}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
