package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFind checks which targets of a folder are found.
func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a/b/x_test.go", "package b\n\nfunc FuzzB(f *testing.F) {\n}\n\nfunc FuzzA(f *testing.F) {\n}\n\nfunc Fuzz(n int) {\n}\n")
	write("a/x.go", "package a\n\nfunc FuzzC(f *testing.F) {\n}\n")
	write("a/testdata/x_test.go", "package a\n\nfunc FuzzD(f *testing.F) {\n}\n")
	write("bin/x_test.go", "package a\n\nfunc FuzzE(f *testing.F) {\n}\n")
	for _, c := range []struct {
		name    string
		folders []string
		match   string
		want    string
	}{
		{"all folders", nil, ".", "a/b FuzzA FuzzB"},
		{"one target", []string{"./a/b"}, "B$", "a/b FuzzB"},
		{"folder without a target", []string{"./a"}, ".", ""},
	} {
		packages, err := find(c.folders, regexp.MustCompile(c.match))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range packages {
			got = append(append(got, p.folder), p.targets...)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestProfile checks the counts of a coverage profile.
func TestProfile(t *testing.T) {
	p, err := readProfile("mode: set\nx/a.go:1.2,3.4 3 1\nx/a.go:5.2,6.4 2 0\nx/b.go:1.1,1.2 1 1\n")
	if covered, all := p.count(); err != nil || covered != 4 || all != 6 {
		t.Errorf("%d of %d, %v", covered, all, err)
	}
	if _, err := readProfile("mode: set\nx 1\n"); err == nil {
		t.Error("a damaged profile is accepted")
	}
}

// TestChoose checks that only inputs with further statements are chosen.
func TestChoose(t *testing.T) {
	reach := map[string]string{"a": "1", "b": "12", "c": "12", "d": "3", "e": "123", "f": "9"}
	runs := 0
	covered := map[string]bool{"9": true}
	names := []string{"a", "b", "c", "d", "e", "f"}
	got, err := choose(names, covered, func(group []string) (map[string]bool, error) {
		runs++
		all := map[string]bool{}
		for _, name := range group {
			for _, s := range strings.Split(reach[name], "") {
				all[s] = true
			}
		}
		return all, nil
	})
	if want := []string{"a", "b", "d"}; err != nil || !slices.Equal(got, want) || len(covered) != 4 {
		t.Errorf("%q, %v, %v; want %q", got, covered, err, want)
	}
	if runs > 9 || strings.Join(names, "") != "abcdef" {
		t.Errorf("%d runs, %q", runs, names)
	}
}

// TestExecutions checks the number of executions in the last line about the progress.
func TestExecutions(t *testing.T) {
	const log = "fuzz: elapsed: 0s, gathering baseline coverage: 0/2 completed\nfuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 0 (total: 2)\n" +
		"fuzz: elapsed: 10s, execs: 1234 (99/sec), new interesting: 1 (total: 3)\n"
	if n := executions([]byte(log)); n != 1234 {
		t.Errorf("%d executions", n)
	}
	if n := executions(nil); n != 0 {
		t.Errorf("%d executions without a line", n)
	}
}

// TestPattern checks the pattern of names with characters of regular expressions.
func TestPattern(t *testing.T) {
	if got, want := pattern("FuzzA", []string{"a.b", "c"}), `^FuzzA$/^(a\.b|c)$`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEndedLate checks which failures are errors of the fuzzing library.
func TestEndedLate(t *testing.T) {
	const start = "fuzz: elapsed: 19s, execs: 48655 (0/sec), new interesting: 49 (total: 50)\n--- FAIL: FuzzOrder (19.48s)\n"
	for output, want := range map[string]bool{
		start + "    context deadline exceeded\nFAIL\n":                                                                      true,
		start + "    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to x\nFAIL\n": false,
		start + "    --- FAIL: FuzzOrder (0.00s)\n        context deadline exceeded\nFAIL\n":                                 false,
		"--- FAIL: FuzzOrder (1.00s)\n    context deadline exceeded\n    Failing input written to x\nFAIL\n":                 false,
		"PASS\n": false,
	} {
		if got := endedLate([]byte(output)); got != want {
			t.Errorf("%q: %t", output, got)
		}
	}
}
