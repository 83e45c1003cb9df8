package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch/override"
)

// overrideKinds returns the values of the constants of type override.Kind
// that the library declares.
func overrideKinds(t *testing.T) (kinds []override.Kind) {
	t.Helper()
	files, err := filepath.Glob("../../fetch/override/*.go")
	more, err2 := filepath.Glob("../../schemes/*/*.go")
	below, err3 := filepath.Glob("../../schemes/http/[di]*/*.go") // doh, ipfs
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	for _, name := range slices.Concat(files, more, below) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ := spec.Type
			if s, ok := typ.(*ast.SelectorExpr); ok {
				typ = s.Sel
			}
			if id, ok := typ.(*ast.Ident); !ok || id.Name != "Kind" {
				return true
			}
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, override.Kind(text))
			return true
		})
	}
	return kinds
}

// TestOverrideFlags checks that OverrideFlags has an entry for each setting of
// the library, and that the flags of each entry exist.
func TestOverrideFlags(t *testing.T) {
	kinds := overrideKinds(t)
	if len(kinds) != len(console.OverrideFlags) || len(kinds) < 15 {
		t.Errorf("the library has %d settings, overrideFlags has %d", len(kinds), len(console.OverrideFlags))
	}
	flags := flagNames()
	for _, kind := range kinds {
		names := regexp.MustCompile(`(?:^| )--?([A-Za-z][a-z0-9.-]*)`).FindAllStringSubmatch(console.OverrideFlags[kind], -1)
		if len(names) == 0 {
			t.Errorf("%s: no flag in %q", kind, console.OverrideFlags[kind])
		}
		for _, m := range names {
			if !flags[m[1]] {
				t.Errorf("%s: no flag %s", kind, m[1])
			}
		}
	}
}
