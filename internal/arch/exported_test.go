package arch

import (
	"go/ast"
	"testing"
)

// maxExported limits the exported identifiers of two packages, because a reader
// must learn the whole index before using the package. An increase of a limit is
// a decision. First look for an identifier that the new one replaces, and for a
// package below fetch that it belongs to.
var maxExported = map[string]surface{
	"warc":  {declarations: 111, fields: 76},
	"fetch": {declarations: 144, fields: 149},
}

// A surface is the number of exported identifiers of a package.
type surface struct {
	declarations int // constants, variables, types, functions and methods
	fields       int // fields of structs, without embedded fields
}

func TestExportedIdentifiers(t *testing.T) {
	got := map[string]surface{}
	for _, f := range files(t) {
		if _, ok := maxExported[f.dir]; ok {
			s := got[f.dir]
			s.add(f.ast)
			got[f.dir] = s
		}
	}
	for dir, limit := range maxExported {
		if n := got[dir]; n.declarations > limit.declarations || n.fields > limit.fields {
			t.Errorf("%s exports %d declarations and %d fields, more than %d and %d",
				dir, n.declarations, n.fields, limit.declarations, limit.fields)
		} else if n.declarations < 50 || n.fields < 50 {
			t.Errorf("%s: counted only %d declarations and %d fields", dir, n.declarations, n.fields)
		}
	}
}

// add counts the exported identifiers of a file.
func (s *surface) add(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && hasExportedReceiver(d) {
				s.declarations++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.addSpec(spec)
			}
		}
	}
}

func (s *surface) addSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		s.declarations += countExported(spec.Names)
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		s.declarations++
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range fields.Fields.List {
				s.fields += countExported(f.Names)
			}
		}
	}
}

func countExported(names []*ast.Ident) (n int) {
	for _, name := range names {
		if name.IsExported() {
			n++
		}
	}
	return n
}

// hasExportedReceiver reports whether d is a function or a method of an
// exported type.
func hasExportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
