package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocComments checks that the exported identifiers of public packages have
// doc comments, which start with the identifier. A group of constants or
// variables may have one comment. Each public package has a package comment.
func TestDocComments(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range files(t) {
		if strings.Contains("/"+f.dir+"/", "/internal/") || f.dir == "cmd/fetch" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		start := "Package " + parsed.Name.Name + " "
		documented[f.dir] = documented[f.dir] || strings.HasPrefix(parsed.Doc.Text(), start)
		for _, d := range parsed.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no doc comment that starts with its name", f.name, name)
			}
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// TestUndocumented checks that undocumented finds each kind of declaration.
func TestUndocumented(t *testing.T) {
	const source = `package p

func F() {}

// Returns nothing.
func G() {}

// H returns nothing.
func H() {}

type T struct{}

// T is the zero T.
func (T) M() {}

func (T) unexported() {}

type U[K, V any] struct{}

func (*U[K, V]) N() {}

func (u unexported) O() {}

var V, w int

// These are several.
const (
	A = 1
	B = 2
)

const C = 3 // the third constant

// The third variable.
var X int

// X and Y are two.
var Y int

// X2 is another.
var Y2 int
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range f.Decls {
		got = append(got, undocumented(d)...)
	}
	want := []string{"F", "G", "T", "M", "U", "N", "V", "X", "Y2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// undocumented returns the exported identifiers of a declaration that have no
// comment that starts with them.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) && !startsWith(d.Doc, d.Name.Name) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && !startsWith(d.Doc, s.Name.Name) && !startsWith(s.Doc, s.Name.Name) {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				names = append(names, undocumentedValues(d, s)...)
			}
		}
	}
	return names
}

// undocumentedValues returns the constants or variables of s without a comment.
// A comment of the line or of a group need not contain their names.
func undocumentedValues(d *ast.GenDecl, s *ast.ValueSpec) (names []string) {
	for _, n := range s.Names {
		grouped := d.Lparen.IsValid() && (d.Doc != nil || s.Doc != nil)
		if n.IsExported() && s.Comment == nil && !grouped && !startsWith(d.Doc, n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}

// startsWith reports whether a comment starts with the given name. An article
// may precede it, and it may be one of several names, as in "X and Y are".
func startsWith(c *ast.CommentGroup, name string) bool {
	return regexp.MustCompile(`^(An? |The |\w+(, \w+)* and )?` + name + `\b`).MatchString(c.Text())
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
