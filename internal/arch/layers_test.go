package arch

import (
	"slices"
	"strings"
	"testing"
)

// layers lists the folders of the module in layers, the lowest first. A package
// imports only packages of lower layers and of its own folder. A folder includes
// the packages below it, unless a longer entry names them. In a folder "X/", each
// folder below X is on its own.
var layers = [][]string{
	{".", "uri", "doc"},
	{"internal/wire", "internal/base"},
	{"fetch"},
	{"internal/format", "verify"},
	{"wrap", "netrc", "links", "schemes/internal"},
	{"schemes/", "save", "warc"},
	{"schemes", "mirror/internal", "capture"},
	{"mirror", "gateway"},
	{"cmd"},
}

// testOnly lists the folders of tests and tools, which are in no layer. They
// may import every package, and only tests and tools import them.
var testOnly = []string{
	"internal/test", "internal/tool", "internal/arch",
	"cmd/fetch/internal/commandtest", "cmd/fetch/internal/faulttest",
	"fetch/fetchtest", "mirror/internal/frontier/frontiertest", "mirror/internal/frontierload",
}

// testImports lists, by folder, the folders of higher layers that its tests
// import: most are examples of the documentation.
var testImports = map[string][]string{
	"uri":           {"fetch"},
	"internal/base": {"fetch"},
	"fetch":         {"schemes"},
	"fetch/urlfs":   {"schemes", "warc", "warc/record"},
	"netrc":         {"schemes/http"},
	"wrap":          {"schemes", "schemes/file", "schemes/ftp", "schemes/gopher", "schemes/http", "schemes/telnet"},
	"links":         {"schemes"},
	"save":          {"schemes", "schemes/http"},
	"warc":          {"schemes/data", "schemes/gopher", "schemes/http"},
	"schemes/urn":   {"schemes/http"},

	"warc/textindex": {"schemes"},
}

// A place is the position of a package in layers.
type place struct {
	layer  int
	folder string
}

// placeOf returns the place of the package in dir.
func placeOf(dir string) (found place, ok bool) {
	longest := 0
	for layer, folders := range layers {
		for _, f := range folders {
			if len(f) > longest && isBelow(dir, f) {
				found, ok, longest = place{layer, f}, true, len(f)
			}
		}
	}
	if rest, each := strings.CutPrefix(dir, found.folder); each && strings.HasSuffix(found.folder, "/") {
		own, _, _ := strings.Cut(rest, "/")
		found.folder += own
	}
	return found, ok
}

// isBelow reports whether dir is folder or below it. A folder "X/" has only the
// folders below X.
func isBelow(dir, folder string) bool {
	return dir == folder || strings.HasPrefix(dir, strings.TrimSuffix(folder, "/")+"/")
}

// mayImport reports whether the package in dir may import package p of this
// module.
func mayImport(dir, p string) bool {
	if isTestOnly(dir) || isTestOnly(p) {
		return isTestOnly(dir)
	}
	from, _ := placeOf(dir)
	to, ok := placeOf(p)
	same := from.folder == to.folder || strings.HasPrefix(from.folder, "internal/") && from.layer == to.layer
	return ok && (to.layer < from.layer || same)
}

// isTestOnly reports whether the package in dir is for tests and tools.
func isTestOnly(dir string) bool {
	return slices.ContainsFunc(testOnly, func(f string) bool { return isBelow(dir, f) })
}

// mayTestImport reports whether the tests of the package in dir may import
// package p of this module.
func mayTestImport(dir, p string) bool {
	if isTestOnly(p) || mayImport(dir, p) {
		return true
	}
	for folder, allowed := range testImports {
		if isBelow(dir, folder) && slices.Contains(allowed, p) {
			return true
		}
	}
	return false
}

func TestLayers(t *testing.T) {
	for _, f := range files(t) {
		if _, ok := placeOf(f.dir); !ok && !isTestOnly(f.dir) {
			t.Errorf("%s: package %s is in no layer", f.name, f.dir)
		}
		for _, p := range ownImports(f) {
			if !mayImport(f.dir, p) {
				t.Errorf("%s must not import %s: it is in a higher layer, in another folder of the layer, or for tests", f.name, p)
			}
		}
		if f.dir == "uri" && f.name != "uri/fromurl.go" && slices.Contains(imports(f), "net/url") {
			t.Errorf("%s must not import net/url, which decodes escapes that uri keeps", f.name)
		}
	}
	for _, f := range testFiles(t) {
		for _, p := range ownImports(f) {
			if !mayTestImport(f.dir, p) {
				t.Errorf("%s must not import %s, which is in a higher layer", f.name, p)
			}
		}
	}
}

// TestLayersRefuse checks that the rules refuse an import upward or sideways.
func TestLayersRefuse(t *testing.T) {
	for _, c := range []struct {
		name, dir, imported string
		may, mayTest        bool
	}{
		{"lower layer", "schemes/ftp", "fetch", true, true},
		{"higher layer", "fetch", "wrap", false, false},
		{"higher layer that examples show", "fetch", "schemes", false, true},
		{"another scheme", "schemes/ftp", "schemes/sftp", false, false},
		{"below its own scheme", "schemes/mail", "schemes/mail/imap", true, true},
		{"another folder of the layer", "mirror", "gateway", false, false},
		{"another part of internal", "internal/format/links", "internal/format/render", true, true},
		{"parts of a mirror", "mirror/internal/archive", "mirror/internal/frontier", true, true},
		{"a mirror from its parts", "mirror/internal/archive", "mirror", false, false},
		{"kit for tests", "warc", "internal/test/savetest", false, true},
		{"tool", "internal/tool/bench", "warc", true, true},
	} {
		if may, mayTest := mayImport(c.dir, c.imported), mayTestImport(c.dir, c.imported); may != c.may || mayTest != c.mayTest {
			t.Errorf("%s: %s imports %s: %v, in tests %v", c.name, c.dir, c.imported, may, mayTest)
		}
	}
}

// TestLayerPaths checks that each folder in the rules has a package.
func TestLayerPaths(t *testing.T) {
	named := slices.Concat(testOnly, slices.Concat(layers...))
	for folder, allowed := range testImports {
		named = append(append(named, folder), allowed...)
	}
	all := allFiles(t)
	for _, folder := range named {
		folder = strings.TrimSuffix(folder, "/")
		if !slices.ContainsFunc(all, func(f file) bool { return isBelow(f.dir, folder) }) {
			t.Errorf("the rules name %s, which has no package", folder)
		}
	}
}

// ownImports returns the packages of this module that f imports.
func ownImports(f file) (own []string) {
	for _, p := range imports(f) {
		if p, ours := strings.CutPrefix(p, module); ours {
			own = append(own, p)
		}
	}
	return own
}
