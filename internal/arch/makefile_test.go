package arch

import (
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSchemeTests checks that "make test-scheme" tests the scheme, the packages
// that import it, also in their tests, and the tests of all schemes.
func TestSchemeTests(t *testing.T) {
	folder := module + "schemes/ftp"
	want := []string{"./fetch/fetchtest", "./internal/arch"}
	for _, f := range allFiles(t) {
		imports := slices.ContainsFunc(f.ast.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+folder+`"` })
		if imports || f.dir == "schemes/ftp" {
			want = append(want, path.Join(module, f.dir))
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	list := exec.Command("make", "-s", "--no-print-directory", "-f", "-", "print", "S=ftp")
	list.Dir = root
	list.Stdin = strings.NewReader("include Makefile\nprint:\n\t@echo $(scheme-tests)\n")
	out, err := list.CombinedOutput()
	got := strings.Fields(string(out))
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// TestMakeHelp checks that make without arguments lists every target.
func TestMakeHelp(t *testing.T) {
	list := exec.Command("make")
	list.Dir = root
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := os.ReadFile(path.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		targets, phony := strings.CutPrefix(line, ".PHONY: ")
		for _, target := range strings.Fields(targets) {
			if phony && target != "help" && !strings.Contains(string(out), "make "+target+" ") {
				t.Errorf("make does not list the target %s", target)
			}
		}
	}
}

// TestWorkflows checks that the workflows of the forge run only targets of the
// Makefile and files of the repository.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile(path.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	workflows, _ := filepath.Glob(path.Join(root, ".github/workflows/*.yml"))
	if len(workflows) < 3 {
		t.Fatalf("%d workflows; want test, nightly and release", len(workflows))
	}
	for _, name := range workflows {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`- run: (\S+) ?(\S*)`).FindAllStringSubmatch(string(text), -1) {
			switch {
			case m[1] == "make" && !strings.Contains(string(makefile), "\n"+m[2]+":"):
				t.Errorf("%s runs make %s, which is no target", name, m[2])
			case strings.HasPrefix(m[1], "."):
				if _, err := os.Stat(path.Join(root, m[1])); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	notes, err := os.ReadFile(path.Join(root, "internal/tool/release/documents.go"))
	if err != nil || !strings.Contains(string(notes), `"RELEASE-NOTES.md"`) {
		t.Errorf("the release workflow publishes RELEASE-NOTES.md, which the release does not write: %v", err)
	}
}
