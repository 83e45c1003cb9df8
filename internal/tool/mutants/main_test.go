package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEdited checks the text of mutants that contain each other. It must be a
// program with the same meaning.
func TestEdited(t *testing.T) {
	const text = "package p\n\nfunc f(a, b int) bool {\n\tfor i := 0; i < a+b; i++ {\n\t\ta -= i\n\t}\n\treturn a-1 == b\n}\n"
	p := &source{name: "p", files: map[string][]byte{"f.go": []byte(text)}, edits: map[string][]edit{}}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "f.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := (&types.Config{}).Check("p", fset, []*ast.File{f}, info)
	if err != nil {
		t.Fatal(err)
	}
	(&finder{p: p, fset: fset, info: info, file: f, full: "f.go", pkg: pkg}).find()
	got := edited(p.files["f.go"], p.edits["f.go"])
	for _, want := range []string{
		"for i := 0; func() bool { if mutant__(1) { return (i <= a+b) }; if mutant__(2) { return (i >= a+b) }; " +
			"return (i < func() int { if mutant__(3) { return (a-b) }; return (a+b) }()) }(); " +
			"func() { if mutant__(4) { i-- } else { i++ } }() {",
		"func() { if mutant__(5) { a += i } else { a -= i } }()",
		"return func() bool { if mutant__(6) { return (a-1 != b) }; return (func() int { if mutant__(7) { return (a+1) }; return (a-1) }() == b) }()",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwithout\n%s", got, want)
		}
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "f.go", got, 0); err != nil || len(p.mutants) != 7 {
		t.Errorf("%d mutants, want 7; %v", len(p.mutants), err)
	}
}

// TestStart checks that a mutant does not count as killed if its tests cannot be
// started, for example because the folder of temporary files was removed.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		name, program string
		killed, fails bool
	}{
		{"tests pass", "true", false, false},
		{"a test fails", "false", true, false},
		{"no program", "missing", false, true},
	} {
		path, err := exec.LookPath(c.program)
		if err != nil {
			path = filepath.Join(t.TempDir(), c.program)
		}
		b := &binary{name: path, tests: map[int][]string{1: {"TestX"}}}
		if got, err := b.detects(mutant{id: 1}); got != c.killed || (err != nil) != c.fails {
			t.Errorf("%s: killed: %t, error %v; want %t and an error: %t", c.name, got, err, c.killed, c.fails)
		}
	}
}

// TestEquivalents checks the form of the list of equivalent mutants.
func TestEquivalents(t *testing.T) {
	if _, err := readEquivalents(); err != nil {
		t.Error(err)
	}
}
