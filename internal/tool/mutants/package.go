package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A source is a package and its mutants.
type source struct {
	name    string // path below the module
	path    string // import path
	dir     string
	pkg     string // name in the package clause
	files   map[string][]byte
	edits   map[string][]edit
	mutants []mutant
}

// An edit inserts text into a file.
type edit struct {
	at   int
	text string
}

// A mutant is a changed operator.
type mutant struct {
	id         int
	file       string // path below the module
	line       int
	text       string // line of the source
	from, into string // operators
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s becomes %s in: %s", m.file, m.line, m.from, m.into, m.text)
}

// key identifies a mutant in the list of equivalents. It contains no line number.
func (m mutant) key() string { return strings.Join([]string{m.file, m.from, m.into, m.text}, "\t") }

// listed is the part of the output of "go list -json" that load uses.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
	Module                        struct{ Path, Dir string }
}

// load parses a package and finds its mutants.
func load(pattern string) (*source, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,Module", pattern).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var last listed // the package itself follows its dependencies
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath], last = l.Export, l
	}
	p := &source{name: strings.TrimPrefix(last.ImportPath, last.Module.Path+"/"), path: last.ImportPath, dir: last.Dir, pkg: last.Name,
		files: map[string][]byte{}, edits: map[string][]edit{}}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range last.GoFiles {
		full := filepath.Join(last.Dir, name)
		text, err := os.ReadFile(full)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, full, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.files[full], parsed = text, append(parsed, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, errors.New("no export data of " + path)
		}
		return os.Open(exports[path])
	})}
	checked, err := conf.Check(last.ImportPath, fset, parsed, info)
	if err != nil {
		return nil, err
	}
	for _, f := range parsed {
		full := fset.Position(f.Pos()).Filename
		(&finder{p: p, fset: fset, info: info, file: f, full: full, pkg: checked}).find()
	}
	return p, nil
}
