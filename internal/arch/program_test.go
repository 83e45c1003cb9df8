package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fenced matches a Go code block in Markdown.
var fenced = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestPrograms checks that the Go functions in README.md, in doc and in package
// comments are also in example files, which are compiled. The tests of package
// doc build and run complete programs.
func TestPrograms(t *testing.T) {
	var examples strings.Builder
	programs := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case strings.Contains(name, "example") && strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(name)
			examples.Write(text)
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err == nil {
				programs[name] = functions(f.Doc.Text())
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "doc/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := filepath.Join(root, "README.md")
	pages = slices.DeleteFunc(pages, func(name string) bool {
		return filepath.Base(name) == "writing-a-scheme.md" // TestFingerProgram of package fetch builds its files
	})
	for _, name := range append(pages, readme) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fenced.FindAllSubmatch(text, -1) {
			if strings.HasPrefix(string(m[1]), "package main\n") {
				continue // the tests of package doc build and run it
			}
			programs[name] = append(programs[name], string(m[1]))
		}
	}
	if len(programs[readme]) == 0 || len(programs[filepath.Join(root, "save/save.go")]) == 0 {
		t.Error("README.md or save/save.go has no program")
	}
	for name, list := range programs {
		for _, program := range list {
			if !strings.Contains(examples.String(), program) {
				t.Errorf("%s has a program that is in no example file:\n%s", name, program)
			}
		}
	}
}

// functions returns the indented blocks of comment that start with "func".
func functions(comment string) (all []string) {
	for block := range strings.SplitSeq(comment, "\n\n") {
		if strings.HasPrefix(block, "\tfunc ") {
			all = append(all, strings.ReplaceAll(strings.TrimPrefix(block, "\t"), "\n\t", "\n"))
		}
	}
	return all
}
