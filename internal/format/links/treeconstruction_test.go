package links

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/uri"
)

// treeDocuments returns the documents of the tree-construction tests of
// html5lib, which golang.org/x/net contains.
func treeDocuments(t *testing.T) (documents []string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		t.Fatalf("the source of golang.org/x/net is not available: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "html", "testdata")
	for _, pattern := range []string{"html5lib-tests/tree-construction/*.dat", "go/*.dat", "webkit/*.dat"} {
		names, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is valid
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for test := range strings.SplitSeq("\n"+string(text), "\n#data\n") {
				document, _, ok := strings.Cut(test, "\n#errors")
				if ok {
					documents = append(documents, document)
				}
			}
		}
	}
	if len(documents) < 1000 {
		t.Fatalf("only %d documents in %s", len(documents), root)
	}
	return documents
}

// hint is a connection hint that the tests insert into documents.
const hint = `<link rel=preconnect href=//evil.example>`

// withHints returns copies of a document with a hint at each position where a
// tag, a comment or a text may begin or end. Some hints are hidden from a parser
// that sees a comment or an attribute there.
func withHints(document string) (all []string) {
	for i := range len(document) + 1 {
		if i < len(document) && document[i] != '<' && (i == 0 || document[i-1] != '>') {
			continue
		}
		for _, text := range []string{hint, "<!-- " + hint + " -->", "<p title='" + hint + "'>", "<title>" + hint + "</title>", "<style><b></b>" + hint + "</style>"} {
			all = append(all, document[:i]+text+document[i:])
		}
	}
	return all
}

// rewritten returns a document as Rewrite writes it.
func rewritten(t *testing.T, document string) string {
	t.Helper()
	var out strings.Builder
	if err := Rewrite(&out, schemeNamed, uri.MustParse(here), "text/html", nil, strings.NewReader(document), func(Link) string { return "" }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTreeConstruction inserts connection hints into the documents of html5lib's
// tree-construction tests. The tree builder of golang.org/x/net must not find
// them in the copies. With -short, it reads one of four copies.
func TestTreeConstruction(t *testing.T) {
	step, control := 1, 0
	if testing.Short() {
		step = 8
	}
	for i, document := range treeDocuments(t) {
		for j, attack := range withHints(document) {
			if (i+j)%step != 0 {
				continue
			}
			copied := rewritten(t, attack)
			if again := rewritten(t, copied); again != copied {
				t.Errorf("%q became %q and then %q", attack, copied, again)
			}
			if hasHint(attack) {
				control++
			}
			if hasHint(copied) {
				t.Errorf("%q became %q with a hint", attack, copied)
			}
		}
	}
	if control < 10_000/step {
		t.Errorf("control: only %d documents have a hint", control)
	}
}

// hasHint reports whether a document has a connection hint with or without
// scripts.
func hasHint(document string) bool {
	for _, scripting := range []bool{false, true} {
		root, err := html.ParseWithOptions(strings.NewReader(document), html.ParseOptionEnableScripting(scripting))
		if err != nil {
			continue // nested too deeply
		}
		for n := range root.Descendants() {
			if isLiveHint(n) {
				return true
			}
		}
	}
	return false
}

// TestBrowserConstruction passes the copies of TestTreeConstruction to a
// browser, once without and once with scripts.
func TestBrowserConstruction(t *testing.T) {
	t.Parallel()
	var attacks, copies []string
	for i, document := range treeDocuments(t) {
		for j, attack := range withHints(document) {
			if (i+j)%8 == 0 { // TestTreeConstruction reads all documents
				attacks, copies = append(attacks, attack), append(copies, rewritten(t, attack))
			}
		}
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/texts":
			json.NewEncoder(w).Encode([][]string{attacks, copies}) // an error fails the test in the browser
		default:
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy", "script-src 'nonce-a'; connect-src 'self'; default-src 'none'") // the documents have scripts
			w.Write([]byte(parsePage))
		}
	}))
	defer served.Close()
	p := browsertest.Start(t, served.Listener.Addr().String()).Open(served.URL)
	var found []int
	for _, scripting := range []string{"false", "true"} {
		if err := json.Unmarshal([]byte(p.Eval("hinted(0, "+scripting+")")), &found); err != nil || len(found) < len(attacks)/40 {
			t.Errorf("control: %v, %d of %d documents have a hint", err, len(found), len(attacks))
		}
		if err := json.Unmarshal([]byte(p.Eval("hinted(1, "+scripting+")")), &found); err != nil {
			t.Error(err)
		}
		for _, i := range found {
			t.Errorf("scripts %s: %q became %q with a hint", scripting, attacks[i], copies[i])
		}
	}
}

// parsePage parses documents and returns the indexes of those that contain a
// connection hint. With scripts, it uses an element of its own document, because
// DOMParser has no scripts.
const parsePage = `<!doctype html><script nonce=a>
function hints(root) {
	for (const e of root.querySelectorAll('*')) {
		if (e.namespaceURI == 'http://www.w3.org/1999/xhtml' && e.localName == 'link' && e.relList.contains('preconnect') && e.getAttribute('href')) return true
		if (e.localName == 'template' && e.content && hints(e.content)) return true
		if (e.shadowRoot && hints(e.shadowRoot)) return true
	}
	return false
}
function parse(text, scripting) {
	if (!scripting) return new DOMParser().parseFromString(text, 'text/html')
	const root = document.createElement('html')
	root.innerHTML = text
	return root
}
const all = fetch('/texts').then(r => r.json())
async function hinted(index, scripting) {
	const found = [], texts = (await all)[index]
	for (let i = 0; i < texts.length; i += scripting ? 4 : 1) { // an element is slower
		if (hints(parse(texts[i], scripting))) found.push(i)
	}
	return JSON.stringify(found)
}
</script>`
