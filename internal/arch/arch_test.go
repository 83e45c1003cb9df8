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

// networkFiles lists the files that may connect, listen and resolve names.
var networkFiles = []string{"fetch/anyport.go", "fetch/dialer.go", "fetch/race.go", "fetch/reservedport.go", "fetch/resolve.go", "gateway/listen.go",
	"internal/wire/sshagent/sshagent.go", "mirror/internal/frontier/postgres/connect.go", "mirror/internal/frontier/postgres/postgres.go",
	"internal/base/chromium/chromium.go", "internal/base/chromium/child_linux.go", "internal/base/chromium/start_linux.go",
	"internal/base/localaddr/route_linux.go"} // a netlink socket, which reaches only the kernel

// overTransport lists the files that return an http.Client over a
// roundtrip.Transport, which uses fetch.Net.
var overTransport = []string{"warc/record/recorder.go"}

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

// TestNetworkFiles checks that only networkFiles and packages for tests use
// networkNames.
func TestNetworkFiles(t *testing.T) {
	for _, f := range files(t) {
		if slices.Contains(networkFiles, f.name) || isTestOnly(f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			if usesNetwork(pkg, name) && !(pkg+"."+name == "net/http.Client" && slices.Contains(overTransport, f.name)) {
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
		if isTestOnly(f.dir) {
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
// standard library, which rejects messages that internal/wire/http1 accepts.
func TestOneHTTPParser(t *testing.T) {
	parsers := map[string]bool{
		"net/http.ReadResponse": true, "net/http.ReadRequest": true, "net/textproto.NewReader": true, "net/http/httputil.NewChunkedReader": true,
	}
	for _, f := range files(t) {
		if isTestOnly(f.dir) {
			continue
		}
		eachSelector(t, f, func(pkg, name string) {
			if parsers[pkg+"."+name] {
				t.Errorf("%s: use internal/wire/http1 instead of %s.%s", f.name, pkg, name)
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
		if command || isTestOnly(f.dir) {
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
		if depth := 3; strings.Count(dir, "/") >= depth && !strings.HasPrefix(dir, "cmd/") {
			dir = path.Join(strings.Split(dir, "/")[:depth]...)
		}
		if !seen[dir] && !strings.Contains(string(text), "`"+dir+"`") {
			t.Errorf("ARCHITECTURE.md does not name `%s`", dir)
		}
		seen[dir] = true
	}
}
