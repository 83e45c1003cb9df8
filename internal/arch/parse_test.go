package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// file is a parsed Go file of the module.
type file struct {
	name string // path relative to the root, with slashes
	dir  string
	ast  *ast.File
}

// files returns the Go files of the module, without tests.
func files(t *testing.T) []file {
	t.Helper()
	return slices.DeleteFunc(allFiles(t), func(f file) bool { return strings.HasSuffix(f.name, "_test.go") })
}

// testFiles returns the files of the module's tests.
func testFiles(t *testing.T) []file {
	t.Helper()
	return slices.DeleteFunc(allFiles(t), func(f file) bool { return !strings.HasSuffix(f.name, "_test.go") })
}

// allFiles returns the Go files of the module.
func allFiles(t *testing.T) []file {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found only %d files below the root", len(all))
	}
	return slices.Clone(all)
}

// parsed parses the Go files of the module once for all tests.
var parsed = sync.OnceValues(func() (all []file, err error) {
	set := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		all = append(all, file{rel, path.Dir(rel), f})
		return err
	})
	return all, err
})

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
