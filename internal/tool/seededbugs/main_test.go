package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// TestPatches checks that each patch applies to the source, and that
// doc/testing.md lists each bug with its layer.
func TestPatches(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	all, err := readBugs(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Errorf("%d bugs, want at least 10", len(all))
	}
	page, err := os.ReadFile(filepath.Join(root, "doc/testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if err := b.apply(root, "--check"); err != nil {
			t.Errorf("the source has changed: adapt internal/test/seeded/%s.patch: %v", b.name, err)
		}
		if row := "| `" + b.name + "` | " + b.text + " | " + b.layer + " | `" + strings.TrimPrefix(b.test, "go test ") + "` |"; !strings.Contains(string(page), row) {
			t.Errorf("doc/testing.md lacks the row\n%s", row)
		}
	}
}

// TestMissed checks that a bug that no test detects is an error.
func TestMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles three modules")
	}
	write := func(dir string) error {
		for name, text := range map[string]string{
			"go.mod": "module m\n", "m.go": "package m\n\nconst N = 1\n",
			"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestN(t *testing.T) {\n\tif N > 2 {\n\t\tt.Fatal(N)\n\t}\n}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				return err
			}
		}
		return nil
	}
	for value, want := range map[string]string{"2": "no test failed", "3": "", "x": "did not run"} {
		b := bug{test: "go test .", diff: []byte("--- a/m.go\n+++ b/m.go\n@@ -2,2 +2,2 @@\n \n-const N = 1\n+const N = " + value + "\n")}
		err := b.check(write)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("N = %s: error %v, want %q", value, err, want)
		}
	}
}
