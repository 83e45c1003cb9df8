package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"
)

// others maps each operator to the operators that replace it.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.INC: {token.DEC}, token.DEC: {token.INC}, token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
}

// A finder finds the mutants of a file.
type finder struct {
	p    *source
	fset *token.FileSet
	info *types.Info
	file *ast.File
	full string // path of the file
	pkg  *types.Package
}

func (f *finder) find() {
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.IncDecStmt:
			f.statement(n, n.TokPos, n.Tok)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && f.isNumber(n.Lhs[0]) {
				f.statement(n, n.TokPos, n.Tok)
			}
		}
		return true
	})
}

// typeOf returns the name of the type of an expression in the file, or "" if the
// expression is constant or its type has no name here.
func (f *finder) typeOf(e ast.Expr) string {
	tv := f.info.Types[e]
	if tv.Value != nil || tv.Type == nil {
		return ""
	}
	if b, ok := tv.Type.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		if b.Kind() == types.UntypedBool {
			return "bool"
		}
		return ""
	}
	unknown := false
	name := types.TypeString(tv.Type, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		for _, i := range f.file.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); path == p.Path() {
				if i.Name != nil {
					return i.Name.Name
				}
				return p.Name()
			}
		}
		unknown = true
		return p.Name()
	})
	if unknown {
		return ""
	}
	return name
}

func (f *finder) isNumber(e ast.Expr) bool {
	t := f.info.Types[e].Type
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// binary adds the mutants of an expression with an operator. The expression
// becomes the result of a function that evaluates one of the variants.
func (f *finder) binary(n *ast.BinaryExpr) {
	result := f.typeOf(n)
	isComparison := n.Op == token.EQL || n.Op == token.NEQ || n.Op == token.LSS || n.Op == token.LEQ || n.Op == token.GTR || n.Op == token.GEQ
	if result == "" || others[n.Op] == nil || !isComparison && !f.isNumber(n) {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func() %s { ", result)
	for _, op := range others[n.Op] {
		fmt.Fprintf(&b, "if mutant__(%d) { return (%s) }; ", f.add(n.OpPos, n.Op, op), f.with(n, n.OpPos, n.Op, op))
	}
	b.WriteString("return (")
	f.insert(n, b.String(), ") }()")
}

// statement adds the mutants of a statement, such as i++.
func (f *finder) statement(n ast.Node, at token.Pos, op token.Token) {
	for _, other := range others[op] {
		f.insert(n, fmt.Sprintf("func() { if mutant__(%d) { %s } else { ", f.add(at, op, other), f.with(n, at, op, other)), " } }()")
	}
}

// add adds a mutant and returns its number.
func (f *finder) add(at token.Pos, from, into token.Token) int {
	pos := f.fset.Position(at)
	lines := strings.Split(string(f.p.files[f.full]), "\n")
	id := len(f.p.mutants) + 1
	f.p.mutants = append(f.p.mutants, mutant{id, f.p.name + "/" + filepath.Base(f.full), pos.Line, strings.TrimSpace(lines[pos.Line-1]),
		from.String(), into.String()})
	return id
}

// with returns the text of a node with another operator.
func (f *finder) with(n ast.Node, at token.Pos, from, into token.Token) string {
	text := f.p.files[f.full]
	start, end, op := f.offset(n.Pos()), f.offset(n.End()), f.offset(at)
	return string(text[start:op]) + into.String() + string(text[op+len(from.String()):end])
}

// insert inserts text before and after a node. Edits at the same place are in
// the order of ast.Inspect, with the outer node first.
func (f *finder) insert(n ast.Node, before, after string) {
	f.p.edits[f.full] = append(f.p.edits[f.full], edit{f.offset(n.Pos()), before}, edit{-f.offset(n.End()), after})
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }
