package arch

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestNoStartupWork checks that package variables are not initialized with
// compiled regular expressions and templates, which would delay the start of
// every process.
func TestNoStartupWork(t *testing.T) {
	for _, f := range files(t) {
		if isTestOnly(f.dir) {
			continue
		}
		for _, d := range f.ast.Decls {
			if v, ok := d.(*ast.GenDecl); ok && v.Tok == token.VAR {
				eachCall(v, func(pkg, name string) {
					if pkg == "regexp" && name == "MustCompile" || pkg == "template" && name == "Must" {
						t.Errorf("%s: %s.%s runs at the start of every process; see package internal/lazy", f.name, pkg, name)
					}
				})
			}
		}
	}
}

// eachCall calls visit for each call of a function of another package in n. It
// ignores function literals, which do not run when n is evaluated.
func eachCall(n ast.Node, visit func(pkg, name string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if fun, ok := call.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := fun.X.(*ast.Ident); ok {
					visit(pkg.Name, fun.Sel.Name)
				}
			}
		}
		return true
	})
}
