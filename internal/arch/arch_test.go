// Package arch keeps ARCHITECTURE.md true: who imports whom, and that one
// door leads to the network.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/anyurl/fetch/"
)

// layer says what a package of ours may import of ours. The longest matching
// folder counts; "X/" stands for everything in it.
var layers = map[string][]string{
	"uri":       {},
	"uri/iri":   {"uri"},
	"internal/": {},

	"fetch":                {"uri", "internal/"},
	"fetch/roundtrip":      {"uri", "fetch"},
	"internal/coding":      {"fetch"},
	"internal/httpauth":    {"internal/http1"},
	"internal/line":        {},
	"internal/regularfile": {},
	"internal/sessions":    {"fetch", "internal/line"},
	"internal/autoindex":   {"fetch", "uri", "internal/baseuri"},
	"internal/baseuri":     {"uri", "uri/iri"},
	"internal/dirlist":     {"fetch", "uri", "internal/line"},
	"internal/entries":     {"fetch", "uri", "internal/line"},
	"internal/mailstore":   {"fetch", "internal/rfc822"},
	"internal/proxy":       {"internal/http1", "internal/httpauth"},
	"internal/rfc822":      {"fetch"},

	"schemes/": {"uri", "fetch", "internal/"},
	"wrap":     {"uri", "fetch", "internal/"},
	"netrc":    {"uri", "fetch"},
	"save":     {"uri", "fetch", "internal/", "wrap"},
	"warc":     {"uri", "fetch", "internal/"},
	"mirror":   {"uri", "fetch", "internal/", "warc", "save", "wrap"},

	"internal/frontier": {"internal/sqlite", "internal/regularfile"},
	"internal/links":    {"uri", "uri/iri", "fetch", "internal/baseuri", "internal/coding"},
	"internal/tree":     {"uri", "fetch", "save", "internal/frontier"},
	"internal/archive":  {"uri", "fetch", "internal/", "warc", "save"},

	"schemes": {"uri", "fetch", "schemes/"},
	"cmd/":    {"uri", "uri/iri", "fetch", "internal/", "schemes", "schemes/", "wrap", "netrc", "save", "warc", "mirror", "cmd/"},

	// These serve tests and benchmarks alone.
	"fetch/fetchtest":     {"uri", "fetch", "internal/"},
	"internal/peer":       {"internal/"},
	"internal/faultnet":   {"internal/"},
	"internal/torture":    {},
	"internal/transcript": {"fetch", "internal/"},
	"internal/schemetest": {"uri", "fetch", "internal/"},
	"internal/bench":      {"internal/"},
	"internal/arch":       {},
	"internal/savetest":   {"save"},
	"internal/waistest":   {"internal/faultnet", "internal/transcript", "internal/z3950"},

	"internal/frontier/frontiertest": {"internal/frontier"},
	"internal/prospero/prospertest":  {"internal/transcript", "internal/prospero/"},
}

// testOnly may be imported by tests, and by each other.
var testOnly = []string{
	"fetch/fetchtest", "internal/peer", "internal/faultnet", "internal/schemetest", "internal/transcript",
	"internal/torture", "internal/bench", "internal/savetest", "internal/waistest",
	"internal/prospero/prospertest", "internal/frontier/frontiertest",
}

// users are the only folders that may import a package: a mirror is made of
// these.
var users = map[string][]string{
	"internal/archive":  {"mirror"},
	"internal/frontier": {"mirror", "internal/archive", "internal/tree", "internal/frontier/"},
	"internal/tree":     {"internal/archive", "cmd/"},
	"internal/links":    {"mirror", "internal/archive", "cmd/"},

	"internal/z3950":            {"schemes/wais", "internal/waistest"},
	"internal/prospero/ardp":    {"schemes/prospero", "internal/prospero/"},
	"internal/prospero/message": {"schemes/prospero", "internal/prospero/"},
}

// doorFiles may dial, listen and resolve.
var doorFiles = []string{"fetch/dialer.go", "fetch/race.go", "fetch/reservedport.go", "fetch/resolve.go"}

// dials are what opens a way to the network: package path to names. A name
// that ends in * stands for all that begin so.
var dials = map[string][]string{
	"net":        {"Dial*", "Listen", "ListenConfig", "ListenPacket", "ListenTCP", "ListenUDP", "ListenUnix*", "ListenIP", "ListenMulticastUDP", "Lookup*", "Resolver", "DefaultResolver", "FileConn", "FileListener", "FilePacketConn"},
	"crypto/tls": {"Dial*", "Listen"},
	"net/http":   {"Get", "Head", "Post", "PostForm", "Client", "DefaultClient", "DefaultTransport", "ListenAndServe*"},
	"net/rpc":    {"Dial*"},
	"net/smtp":   {"Dial", "SendMail"},
	"syscall":    {"Socket", "Connect", "Sendto"},

	"golang.org/x/sys/unix":                     {"Socket", "Connect", "Sendto"},
	"golang.org/x/net/proxy":                    {"Dial", "Direct", "FromEnvironment*"},
	"golang.org/x/net/websocket":                {"Dial*"},
	"github.com/ziutek/telnet":                  {"Dial*"},
	"github.com/jlaffaye/ftp":                   {"Connect", "DialTimeout"},
	"github.com/emersion/go-imap/v2/imapclient": {"Dial*"},
}

type file struct {
	name string // from the root, with slashes
	dir  string
	ast  *ast.File
}

func files(t *testing.T) (all []file) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
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
		t.Fatalf("found %d files: looking in the wrong place", len(all))
	}
	return all
}

func imports(f file) (paths []string) {
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

func TestImports(t *testing.T) {
	for _, f := range files(t) {
		allowed, ok := layerOf(f.dir)
		if !ok {
			t.Errorf("%s: folder %s has no place in the house: ARCHITECTURE.md and this table", f.name, f.dir)
			continue
		}
		for _, p := range imports(f) {
			p, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			if !allows(allowed, p) && !within(f.dir, p) {
				t.Errorf("%s imports %s, which its layer may not", f.name, p)
			}
			if only, ok := users[p]; ok && !allows(only, f.dir) {
				t.Errorf("%s imports %s, which is for %s", f.name, p, strings.Join(only, ", "))
			}
			if slices.Contains(testOnly, p) && !slices.Contains(testOnly, f.dir) {
				t.Errorf("%s imports %s, which is for tests", f.name, p)
			}
		}
		if f.dir == "uri" && f.name != "uri/fromurl.go" && slices.Contains(imports(f), "net/url") {
			t.Errorf("%s imports net/url, which decodes too early", f.name)
		}
	}
}

// TestRulesExist: every folder that the rules name is there.
func TestRulesExist(t *testing.T) {
	named := slices.Clone(testOnly)
	for _, rules := range []map[string][]string{layers, users} {
		for dir, others := range rules {
			named = append(append(named, dir), others...)
		}
	}
	slices.Sort(named)
	for _, dir := range slices.Compact(named) {
		if found, err := filepath.Glob(filepath.Join(root, dir, "*")); err != nil || len(found) == 0 {
			t.Errorf("the rules name %s, which is not there", dir)
		}
	}
}

// layerOf finds the entry for dir, or for the nearest folder above it.
func layerOf(dir string) ([]string, bool) {
	for above := dir; above != "."; above = path.Dir(above) {
		if allowed, ok := layers[above+"/"]; ok && above != dir {
			return allowed, true
		}
		if allowed, ok := layers[above]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func allows(allowed []string, p string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		return a == p || strings.HasSuffix(a, "/") && strings.HasPrefix(p, a)
	})
}

// within lets a scheme import what lies in its own folder, never another
// scheme.
func within(dir, p string) bool {
	if rest, ok := strings.CutPrefix(dir, "schemes/"); ok {
		own, _, _ := strings.Cut(rest, "/")
		return strings.HasPrefix(p, "schemes/"+own+"/") || p == "schemes/"+own
	}
	return strings.HasPrefix(p, dir+"/")
}

func TestOneDoor(t *testing.T) {
	for _, f := range files(t) {
		if slices.Contains(doorFiles, f.name) || slices.Contains(testOnly, f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			if dialling(pkg, name) {
				t.Errorf("%s: %s.%s opens a way to the network beside the door", f.name, pkg, name)
			}
		})
	}
}

// TestOneHandshake: drivers classify TLS faults alike, because fetch.Handshake
// is the only TLS client.
func TestOneHandshake(t *testing.T) {
	found := false
	for _, f := range files(t) {
		if slices.Contains(testOnly, f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			switch {
			case pkg != "crypto/tls" || name != "Client":
			case f.name == "fetch/tls.go":
				found = true
			default:
				t.Errorf("%s: tls.Client in place of fetch.Handshake", f.name)
			}
		})
	}
	if !found {
		t.Error("fetch.Handshake is not where this test looks")
	}
}

// eachSelector calls use with the package path and the name of each selector
// of an imported package in f.
func eachSelector(t *testing.T, f file, use func(pkg, name string)) {
	t.Helper()
	local := map[string]string{} // the name of an import in this file
	for _, i := range f.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if strings.HasPrefix(name, "v") && strings.Trim(name, "v0123456789") == "" {
			name = path.Base(path.Dir(p)) // a major version
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		if name == "." {
			t.Errorf("%s: import of %s hides names", f.name, p)
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

func dialling(pkg, name string) bool {
	return slices.ContainsFunc(dials[pkg], func(d string) bool {
		prefix, all := strings.CutSuffix(d, "*")
		return name == d || all && strings.HasPrefix(name, prefix)
	})
}

// TestOneHTTPParser: no package parses HTTP/1 with the standard library, which
// rejects messages that internal/http1 accepts.
func TestOneHTTPParser(t *testing.T) {
	parsers := map[string]bool{
		"net/http.ReadResponse": true, "net/http.ReadRequest": true, "net/textproto.NewReader": true, "net/http/httputil.NewChunkedReader": true,
	}
	for _, f := range files(t) {
		if slices.Contains(testOnly, f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			if parsers[pkg+"."+name] {
				t.Errorf("%s: %s.%s parses HTTP/1 beside internal/http1", f.name, pkg, name)
			}
		})
	}
}

// TestDoorTest: TestOneDoor would see a dial. It fails if the table stops
// matching what the door itself does.
func TestDoorTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "fetch/race.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "net.Dialer{") || !dialling("net", "Dialer") {
		t.Error("the door does not dial where this test looks")
	}
}

// TestNoInit: no package changes anything before main.
func TestNoInit(t *testing.T) {
	for _, f := range files(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", f.name)
			}
		}
		for _, i := range f.ast.Imports {
			if i.Name != nil && i.Name.Name == "_" && !strings.HasPrefix(i.Path.Value, `"embed`) {
				t.Errorf("%s imports %s for its effects", f.name, i.Path.Value)
			}
		}
	}
}

// namesFlag matches a flag of the command in a text: "--name", or "-u USER".
var namesFlag = regexp.MustCompile(`(?:^|[ (=])(?:--[a-z][a-z0-9-]*|-[A-Za-z] [A-Z]{2,})`)

// TestLibraryNamesNoFlag checks that texts of the library name no flags of the
// command. Errors have a fetch.Override instead. The help texts of the schemes,
// each in a file help.go, are part of the command.
func TestLibraryNamesNoFlag(t *testing.T) {
	for _, f := range files(t) {
		command := strings.HasPrefix(f.dir, "cmd/") || path.Base(f.name) == "help.go"
		if command || slices.Contains(testOnly, f.dir) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				if text, err := strconv.Unquote(s.Value); err != nil || namesFlag.MatchString(text) {
					t.Errorf("%s: %s names a flag", f.name, s.Value)
				}
			}
			return true
		})
	}
	for _, text := range []string{"use --max N", "--proto +ftp", "(--in URL names it)", "-u USER:PASSWORD"} {
		if !namesFlag.MatchString(text) {
			t.Errorf("the test misses the flag in %q", text)
		}
	}
}

// TestArchitecture: every folder with code is on the map.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files(t) {
		dir := f.dir
		if strings.Count(dir, "/") > 1 {
			dir = path.Join(strings.Split(dir, "/")[:2]...)
		}
		if !seen[dir] && !strings.Contains(string(text), "`"+dir+"`") {
			t.Errorf("ARCHITECTURE.md does not name `%s`", dir)
		}
		seen[dir] = true
	}
}
