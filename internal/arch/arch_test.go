// Package arch tests the rules of ARCHITECTURE.md: which packages a package may
// import, and which files may connect to the network.
package arch

import (
	"go/ast"
	"go/token"
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

// layers lists, for each package of this module, the packages of this module
// that it may import. The entry with the longest matching path applies. A path
// "X/" matches all packages below X.
var layers = map[string][]string{
	"uri":       {},
	"uri/iri":   {"uri"},
	"internal/": {},

	"fetch":                {"uri", "internal/"},
	"fetch/override":       {},
	"fetch/scheme":         {"uri"},
	"fetch/trace":          {},
	"fetch/roundtrip":      {"uri", "fetch"},
	"internal/coding":      {"fetch"},
	"internal/httpauth":    {"internal/http1"},
	"internal/line":        {},
	"internal/localfile":   {"fetch", "uri", "internal/entries", "internal/media"},
	"internal/linesort":    {"fetch"},
	"internal/regularfile": {},
	"internal/sessions":    {"fetch", "internal/line"},
	"internal/crawlreport": {"internal/media", "internal/tty"},
	"internal/crumbs":      {"uri"},
	"internal/autoindex":   {"fetch", "uri", "internal/baseuri", "internal/lazy"},
	"internal/askform":     {"uri", "fetch"},
	"internal/baseuri":     {"uri", "uri/iri"},
	"internal/htmltext":    {"internal/tty"},
	"internal/dirlist":     {"fetch", "uri", "internal/line"},
	"internal/entries":     {"fetch", "uri", "internal/line"},
	"internal/mailstore":   {"fetch", "internal/rfc822"},
	"internal/proxy":       {"internal/http1", "internal/httpauth"},
	"internal/render":      {"uri", "fetch", "internal/"},
	"internal/rfc822":      {"fetch"},
	"internal/sasl":        {"uri", "fetch"},
	"internal/store":       {"uri", "fetch", "internal/regularfile"},

	"schemes/": {"uri", "fetch", "internal/"},
	"wrap":     {"uri", "fetch", "internal/"},
	"netrc":    {"uri", "fetch"},
	"save":     {"uri", "fetch", "internal/", "wrap"},
	"warc":     {"uri", "fetch", "internal/"},
	"mirror":   {"uri", "fetch", "internal/", "warc", "save", "wrap"},
	"gateway":  {"uri", "fetch", "internal/", "warc"},
	"gateway/": {"uri", "fetch", "internal/"},

	"internal/frontier":          {"internal/sqlite", "internal/regularfile", "internal/lazy"},
	"internal/frontier/postgres": {"internal/frontier"},
	"internal/upload":            {"fetch", "internal/"},

	"internal/lazy":     {},
	"internal/splice":   {},
	"internal/links":    {"uri", "uri/iri", "fetch", "internal/baseuri", "internal/coding", "internal/lazy", "internal/media"},
	"internal/tree":     {"uri", "fetch", "save", "internal/frontier"},
	"internal/archive":  {"uri", "fetch", "internal/", "warc", "save"},
	"internal/exchange": {"uri", "fetch", "internal/", "warc"},

	"doc":     {},
	"schemes": {"uri", "fetch", "schemes/"},
	"cmd/":    {"doc", "uri", "uri/iri", "fetch", "internal/", "schemes", "schemes/", "wrap", "netrc", "save", "warc", "mirror", "gateway", "cmd/"},

	// The packages below are for tests and benchmarks only.
	"fetch/fetchtest":      {"uri", "fetch", "internal/"},
	"internal/peer":        {"internal/"},
	"internal/faultnet":    {"internal/"},
	"internal/torture":     {"internal/testdir"},
	"internal/transcript":  {"fetch", "internal/"},
	"internal/schemetest":  {"uri", "fetch", "internal/"},
	"internal/bench":       {"uri", "fetch", "internal/", "warc"},
	"internal/browsertest": {"internal/"},
	"internal/arch":        {},
	"internal/savetest":    {"save"},
	"internal/testdir":     {},
	"internal/waistest":    {"internal/faultnet", "internal/transcript", "internal/z3950"},

	"internal/frontier/frontiertest": {"internal/frontier"},
	"internal/z3950/apdu":            {"internal/ber"},
	"internal/prospero/prospertest":  {"internal/transcript", "internal/prospero/"},
}

// apiParts lists the packages with types of the exported API of fetch. Each
// package that may import fetch may import them.
var apiParts = []string{"fetch/override", "fetch/scheme", "fetch/trace"}

// testOnly lists packages that only tests and each other may import.
var testOnly = []string{
	"fetch/fetchtest", "internal/peer", "internal/faultnet", "internal/schemetest", "internal/transcript",
	"internal/torture", "internal/bench", "internal/browsertest", "internal/savetest", "internal/waistest", "internal/testdir",
	"internal/prospero/prospertest", "internal/frontier/frontiertest",
}

// users lists packages that only the given packages may import.
var users = map[string][]string{
	"internal/archive":           {"mirror"},
	"internal/frontier/postgres": {"mirror", "internal/archive", "internal/upload"},
	"internal/upload":            {"mirror", "internal/archive"},

	"internal/frontier": {"mirror", "internal/archive", "internal/tree", "internal/frontier/", "internal/upload", "internal/bench/frontierload"},
	"internal/tree":     {"internal/archive", "cmd/"},
	"internal/links":    {"mirror", "internal/archive", "gateway", "cmd/"},

	"internal/crawlreport": {"mirror", "gateway"},
	"internal/render":      {"gateway", "internal/archive"},

	"internal/z3950":            {"schemes/wais", "internal/waistest"},
	"internal/z3950/apdu":       {"schemes/z3950"},
	"internal/prospero/ardp":    {"schemes/prospero", "internal/prospero/"},
	"internal/prospero/message": {"schemes/prospero", "internal/prospero/"},
}

// networkFiles lists the files that may connect, listen and resolve names.
var networkFiles = []string{"fetch/anyport.go", "fetch/dialer.go", "fetch/race.go", "fetch/reservedport.go", "fetch/resolve.go", "gateway/listen.go",
	"internal/frontier/postgres/connect.go", "internal/frontier/postgres/postgres.go", "internal/sshagent/sshagent.go"}

// networkNames lists, by package path, the functions and types that open
// connections, listen or resolve names. A "*" at the end matches any suffix.
var networkNames = map[string][]string{
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
	"github.com/jackc/pgx/v5":                   {"Connect*"},
	"github.com/jackc/pgx/v5/pgxpool":           {"New*"},
	"github.com/jlaffaye/ftp":                   {"Connect", "DialTimeout"},
	"github.com/emersion/go-imap/v2/imapclient": {"Dial*"},
}

func TestImports(t *testing.T) {
	for _, f := range files(t) {
		allowed, ok := allowedImports(f.dir)
		if !ok {
			t.Errorf("%s: package %s is missing in ARCHITECTURE.md and in layers", f.name, f.dir)
			continue
		}
		for _, p := range imports(f) {
			p, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			part := slices.Contains(apiParts, p) && allows(allowed, "fetch")
			if !part && !allows(allowed, p) && !isOwnFolder(f.dir, p) {
				t.Errorf("%s must not import %s", f.name, p)
			}
			if only, ok := users[p]; ok && !allows(only, f.dir) {
				t.Errorf("%s must not import %s, which is only for %s", f.name, p, strings.Join(only, ", "))
			}
			if slices.Contains(testOnly, p) && !slices.Contains(testOnly, f.dir) {
				t.Errorf("%s must not import %s, which is only for tests", f.name, p)
			}
		}
		if f.dir == "uri" && f.name != "uri/fromurl.go" && slices.Contains(imports(f), "net/url") {
			t.Errorf("%s must not import net/url, which decodes escapes that uri keeps", f.name)
		}
	}
}

// TestRulePaths checks that each path in the rules is a package of this module,
// or has packages below it.
func TestRulePaths(t *testing.T) {
	named := slices.Concat(testOnly, apiParts)
	for _, rules := range []map[string][]string{layers, users} {
		for dir, others := range rules {
			named = append(append(named, dir), others...)
		}
	}
	slices.Sort(named)
	named = slices.Compact(named)
	packages := map[string]bool{}
	for _, name := range goFiles(t) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			packages[dir+"/"] = true
		}
		packages[path.Dir(name)] = true
	}
	for _, dir := range named {
		if !packages[dir] {
			t.Errorf("the rules name %s, which has no package", dir)
		}
	}
}

// allowedImports returns the entry of layers for dir or for its nearest parent
// folder.
func allowedImports(dir string) ([]string, bool) {
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

// allows reports whether p matches one of the paths in allowed.
func allows(allowed []string, p string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		return a == p || strings.HasSuffix(a, "/") && strings.HasPrefix(p, a)
	})
}

// isOwnFolder reports whether package p is below the folder of package dir. The
// folder of a scheme is schemes/NAME.
func isOwnFolder(dir, p string) bool {
	if rest, ok := strings.CutPrefix(dir, "schemes/"); ok {
		own, _, _ := strings.Cut(rest, "/")
		return strings.HasPrefix(p, "schemes/"+own+"/") || p == "schemes/"+own
	}
	return strings.HasPrefix(p, dir+"/")
}

// TestNetworkFiles checks that only networkFiles and packages for tests use
// networkNames.
func TestNetworkFiles(t *testing.T) {
	for _, f := range files(t) {
		if slices.Contains(networkFiles, f.name) || slices.Contains(testOnly, f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			if usesNetwork(pkg, name) {
				t.Errorf("%s: %s.%s uses the network without fetch.Net", f.name, pkg, name)
			}
		})
	}
}

// TestOneHandshake checks that fetch.Handshake is the only TLS client, so that
// all drivers classify TLS errors in the same way.
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
				t.Errorf("%s: use fetch.Handshake instead of tls.Client", f.name)
			}
		})
	}
	if !found {
		t.Error("fetch/tls.go does not call tls.Client")
	}
}

// usesNetwork reports whether networkNames has name of package pkg.
func usesNetwork(pkg, name string) bool {
	return slices.ContainsFunc(networkNames[pkg], func(d string) bool {
		prefix, all := strings.CutSuffix(d, "*")
		return name == d || all && strings.HasPrefix(name, prefix)
	})
}

// TestOneHTTPParser checks that no package parses HTTP/1 messages with the
// standard library, which rejects messages that internal/http1 accepts.
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
				t.Errorf("%s: use internal/http1 instead of %s.%s", f.name, pkg, name)
			}
		})
	}
}

// TestNetworkNames checks that networkNames matches the net.Dialer that
// fetch/race.go uses.
func TestNetworkNames(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "fetch/race.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "net.Dialer{") || !usesNetwork("net", "Dialer") {
		t.Error("fetch/race.go has no net.Dialer, or networkNames does not match it")
	}
}

// TestNoInit checks that no package has an init function or an import for its
// side effects.
func TestNoInit(t *testing.T) {
	for _, f := range files(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", f.name)
			}
		}
		for _, i := range f.ast.Imports {
			if i.Name != nil && i.Name.Name == "_" && !strings.HasPrefix(i.Path.Value, `"embed`) {
				t.Errorf("%s imports %s for its side effects", f.name, i.Path.Value)
			}
		}
	}
}

// namesFlag matches a flag of the command in a text: "--name", or "-u USER".
var namesFlag = regexp.MustCompile(`(?:^|[ (=])(?:--[a-z][a-z0-9-]*|-[A-Za-z] [A-Z]{2,})`)

// TestLibraryNamesNoFlag checks that texts of the library name no flags of the
// command. Errors have an override.Setting instead. The help texts of the schemes,
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

// TestArchitecture checks that ARCHITECTURE.md names each folder with code.
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
