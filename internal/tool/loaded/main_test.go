package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoaded checks the errors and the figures of runs.
func TestLoaded(t *testing.T) {
	for _, c := range []struct {
		name, load, script string
		runs, together     int
		want               string // part of the error; "" means none
		figures            string // part of the figure "runs without a failure"
	}{
		{name: "passes", load: "sleep 1000", script: "test \"$GOFLAGS\" = -count=1", runs: 3, together: 1, figures: `"value":3`},
		{name: "one run fails", load: "sleep 1000", script: "echo x >> count; test $(wc -l < count) != 2", runs: 3, together: 1, want: "1 of 3 runs failed", figures: `"value":2`},
		{name: "at the same time", load: "sleep 1000", script: "mkfifo f; if mkdir first; then cat f; else echo > f; fi", runs: 2, together: 2, figures: `"value":2`},
		{name: "load that is absent", load: "/absent/load", script: "true", runs: 3, together: 1, want: "no such file"},
		{name: "load that ends", load: "true", script: "true", runs: 1_000_000, together: 3, want: "ended by itself"},
		{name: "no load", load: "", script: "true", runs: 3, together: 1, want: "required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOFLAGS", "")
			tally := tally{runs: c.runs, together: c.together, results: "."}
			err := tally.loaded(strings.Fields(c.load), []string{"sh", "-c", c.script})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			text, _ := os.ReadFile("loaded-runs.jsonl")
			var line string
			for l := range strings.Lines(string(text)) {
				if strings.Contains(l, "without a failure") {
					line = l
				}
			}
			if !strings.Contains(line, c.figures) {
				t.Errorf("got figures %q, want %s", line, c.figures)
			}
		})
	}
}

// TestRunOnce checks that the error names the failed tests.
func TestRunOnce(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	_, err := runOnce([]string{"sh", "-c", "printf 'ok a\\n--- FAIL: TestX (1s)\\nFAIL\\tb\\n'; exit 1"}, log)
	if err == nil || !strings.Contains(err.Error(), "\n\t--- FAIL: TestX (1s)\n\tFAIL\tb") || strings.Contains(err.Error(), "ok a") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(log); err != nil || !strings.HasPrefix(string(text), "ok a\n") {
		t.Errorf("the log is %q, %v", text, err)
	}
}
