package arch

import (
	"go/ast"
	"os/exec"
	"path"
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
	list := exec.Command("make", "-s", "-f", "-", "print", "S=ftp")
	list.Dir = root
	list.Stdin = strings.NewReader("include Makefile\nprint:\n\t@echo $(scheme-tests)\n")
	out, err := list.CombinedOutput()
	got := strings.Fields(string(out))
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
