package peer_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestServersPage checks that the page about servers lists the servers of this
// package, and no other packages of Debian and npm.
func TestServersPage(t *testing.T) {
	page, err := os.ReadFile("../../../doc/tested-servers.md")
	if err != nil {
		t.Fatal(err)
	}
	tested, _, _ := strings.Cut(string(page), "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)\| (Debian|npm|Go) ([^|]+) \|$`).FindAllStringSubmatch(tested, -1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			listed[m[1]+" "+name] = true
		}
	}
	started := serverSources(t)
	for source := range started {
		if !listed[source] {
			t.Errorf("the page does not list %s", source)
		}
	}
	modules, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for source := range listed {
		name, isModule := strings.CutPrefix(source, "Go ")
		if isModule && strings.Contains(string(modules), name) {
			continue
		}
		if !started[source] {
			t.Errorf("the page lists %s, which no function of this package starts", source)
		}
	}
}

// serverSources returns the first package in the doc comment of each function
// that starts a server, such as "Debian nginx-light".
func serverSources(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]bool{}
	named := regexp.MustCompile(`\((Debian|npm) ([a-z0-9.+-]+(?:, [a-z0-9.+-]+)*)|(module) (github\.com/\S+)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Recv != nil || strings.HasPrefix(fn.Name.Name, "Need") {
				continue
			}
			m := named.FindStringSubmatch(strings.ReplaceAll(fn.Doc.Text(), "\n", " "))
			switch {
			case m == nil:
			case m[3] != "":
				sources["Go "+strings.TrimRight(m[4], ".,")] = true
			case fn.Name.Name == "Dovecot":
				for name := range strings.SplitSeq(m[2], ", ") {
					sources[m[1]+" "+name] = true
				}
			default:
				name, _, _ := strings.Cut(m[2], ",")
				sources[m[1]+" "+name] = true
			}
		}
	}
	return sources
}
