package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// file is a parsed Go file of the module.
type file struct {
	name string // path relative to the root, with slashes
	dir  string
	ast  *ast.File
}

// files parses the Go files of the module, without tests.
func files(t *testing.T) []file {
	t.Helper()
	return parse(t, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

// testFiles parses the files of the module's tests.
func testFiles(t *testing.T) []file {
	t.Helper()
	return parse(t, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// parse parses the Go files of the module whose names match.
func parse(t *testing.T, match func(name string) bool) (all []file) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || !match(name) {
			return nil
		}
		parsed, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		all = append(all, file{rel, path.Dir(rel), parsed})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found only %d files below the root", len(all))
	}
	return all
}

// goFiles returns the paths of all Go files relative to the root, including
// tests.
func goFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") && !strings.Contains(name, "/testdata/") {
			rel, _ := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// imports returns the paths of the packages that f imports.
func imports(f file) (paths []string) {
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// eachSelector calls use for each reference in f to a name of an imported
// package, with the package path and the name.
func eachSelector(t *testing.T, f file, use func(pkg, name string)) {
	t.Helper()
	local := map[string]string{} // package paths, by the name in this file
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if strings.HasPrefix(name, "v") && strings.Trim(name, "v0123456789") == "" {
			name = path.Base(path.Dir(p)) // the path ends in a major version
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		if name == "." {
			t.Errorf("%s: dot import of %s", f.name, p)
		}
		local[name] = p
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil && local[x.Name] != "" {
				use(local[x.Name], s.Sel.Name)
			}
		}
		return true
	})
}
