package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// hazards are URL paths that other tools lose, merge, or write to the wrong
// place.
var hazards = []string{
	"/a", "/a/b", "/%2e%2e/%2e%2e/etc/passwd", "/x%00y", "/x%0Ay", "/%FF%FE", "/" + strings.Repeat("n", 300),
	"/Case", "/case", "/q?x=1/../../etc", "/q", "/dir/", "/dir/index.html", "/con", "/dot.", "/..%2f..%2fz",
	"/sp%20", "/a%5Cb", "/%C3%A9", "/e%CC%81",
}

// TestHazards checks that every URL becomes one file in the tree, with a name
// that every file system supports.
func TestHazards(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.RequestURI {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			for _, h := range hazards {
				fmt.Fprintf(w, "<a href=%q>\n", h)
			}
		case "/robots.txt":
			http.NotFound(w, r)
		default:
			io.WriteString(w, "this is "+r.RequestURI)
		}
	}))
	defer s.Close()
	o := options(t, s.URL+"/")
	run(t, o)
	files := tree(t, o.Dir, "http")
	bodies := map[string]string{}
	folded := map[string]string{}
	for name, body := range files {
		bodies[body] = name
		checkPortable(t, name)
		key := cases.Fold().String(norm.NFC.String(name))
		if other, ok := folded[key]; ok {
			t.Errorf("%q and %q are equal if case is ignored", name, other)
		}
		folded[key] = name
	}
	for _, h := range hazards {
		// RFC 3986 section 6.2.2: dot segments are removed, and the hex
		// digits of an escape are in upper case.
		want := strings.ReplaceAll(strings.Replace(h, "/%2e%2e/%2e%2e/", "/", 1), "%2f", "%2F")
		if _, ok := bodies["this is "+want]; !ok {
			t.Errorf("%s has no file", h)
		}
	}
	if len(files) != len(hazards)+1 {
		t.Errorf("%d files, want %d", len(files), len(hazards)+1)
	}
	if outside := tree(t, o.Dir, ".."); len(outside) != len(files)+len(filesOutsideTree(outside)) {
		t.Errorf("%d files in the archive", len(outside))
	}
}

// filesOutsideTree returns the files of an archive that are not in its tree.
func filesOutsideTree(files map[string]string) (names []string) {
	for name := range files {
		if !strings.HasPrefix(name, "tree/") {
			names = append(names, name)
		}
	}
	return names
}

// checkPortable checks a path by the rules of the strictest file systems.
func checkPortable(t *testing.T, name string) {
	t.Helper()
	for component := range strings.SplitSeq(name, "/") {
		base, _, _ := strings.Cut(strings.ToLower(component), ".")
		switch {
		case len(component) > 255, component == "", strings.ContainsAny(component, "\\:*?\"<>|\x00\n"),
			strings.HasSuffix(component, "."), strings.HasSuffix(component, " "), strings.HasPrefix(component, " "),
			base == "con", base == "nul", base == "aux", base == "prn":
			t.Errorf("%q in %q is not portable", component, name)
		}
	}
	if path.Clean(name) != name {
		t.Errorf("%q is not a clean path", name)
	}
}
