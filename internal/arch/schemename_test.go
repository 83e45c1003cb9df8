package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/schemes"
)

// schemeFree lists the folders whose code treats all schemes alike. What it must
// know about a scheme is a field of fetch.Scheme. A program can therefore add a
// scheme.
var schemeFree = []string{
	"internal/base", "internal/format", "mirror", "gateway", "save", "wrap", "cmd/fetch/internal",
}

// otherWords lists the names of schemes that a folder, and the folders below it,
// may contain. Most of them are other words, such as the name of an attribute.
var otherWords = map[string]string{
	"cmd/fetch/internal/arguments":    "http",                                    // the scheme of a URL without one
	"cmd/fetch/internal/clientflags":  "http https urn file s3",                  // flags of these schemes, kinds of stores
	"cmd/fetch/internal/command":      "cid data mailserver mailto mid news urn", // completions of URLs without slashes; a flag of curl
	"cmd/fetch/internal/foreignflags": "data",                                    // flags of other programs
	"cmd/fetch/internal/dedup":        "file",                                    // the URL of an index on this machine
	"cmd/fetch/internal/importcmd":    "http https cid",                          // HAR and MHTML files contain only these URLs
	"cmd/fetch/internal/objectcmd":    "file dav",                                // a key of the JSON of a capture, a flag
	"cmd/fetch/internal/objectflags":  "data",                                    // a flag of curl
	"gateway":                         "http https mailto gopher file",           // its own URLs, the user's mail program, a mistake of w3m, a file name
	"internal/base/baseuri":           "data mailto mid cid news urn file",       // a document must not resolve its references against them
	"internal/base/media":             "mid",                                     // a file extension
	"internal/format/askform":         "gopher gophers",                          // the forms of Gopher+
	"internal/format/links":           "data",                                    // an attribute
	"internal/format/render":          "file mid",                                // a type of question, the URL of a message
	"internal/format/store":           "file",                                    // the kind of a store
	"mirror":                          "file",                                    // keys of log lines, tables
	"mirror/internal/s3":              "http https s3",                           // the addresses of stores
	"save":                            "file",                                    // a placeholder
}

// TestSchemeNames checks that no string in the folders of schemeFree is the name
// of a scheme.
func TestSchemeNames(t *testing.T) {
	var names []string
	for _, s := range schemes.All(schemes.Options{}) {
		names = append(names, s.Name)
	}
	used := map[string]bool{}
	for _, f := range files(t) {
		if !slices.ContainsFunc(schemeFree, func(dir string) bool { return isBelow(f.dir, dir) }) || isTestOnly(f.dir) {
			continue
		}
		for _, name := range namesIn(f.ast, names) {
			allowed := false
			for dir, words := range otherWords {
				if isBelow(f.dir, dir) && slices.Contains(strings.Fields(words), name) {
					allowed, used[dir+" "+name] = true, true
				}
			}
			if !allowed {
				t.Errorf("%s names the scheme %s", f.name, name)
			}
		}
	}
	for dir, words := range otherWords {
		for word := range strings.FieldsSeq(words) {
			if !used[dir+" "+word] {
				t.Errorf("%s does not name %s any more", dir, word)
			}
		}
	}
}

// namesIn returns the strings in a file that are in names.
func namesIn(f *ast.File, names []string) (found []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && slices.Contains(names, text) {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// TestSchemeNamesFound checks that TestSchemeNames finds a name in a switch, in a
// comparison and in a table.
func TestSchemeNamesFound(t *testing.T) {
	for _, code := range []string{
		`switch s { case "ftp", "sftp": }`, `_ = s == "sftp"`, `_ = map[string]int{"sftp": 1}`, `_ = strings.HasPrefix(s, "sftp")`,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f(s string) {\n"+code+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := namesIn(f, []string{"sftp"}); len(got) != 1 {
			t.Errorf("%s: found %q", code, got)
		}
	}
}
