package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFigures checks the lines of a test with several figures.
func TestFigures(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Folder, dir)
	t.Run("inner", func(t *testing.T) {
		f := Start(t, "power loss")
		f.Add("states", 2)
		f.Add("states", 3)
	})
	text, err := os.ReadFile(filepath.Join(dir, "power-loss.jsonl"))
	want := `{"layer":"power loss","measure":"states","value":5,"scope":"` + scope + `","test":"TestFigures/inner"}`
	if lines := strings.Split(string(text), "\n"); err != nil || lines[0] != want || !strings.Contains(lines[1], "seconds") {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}
