package afs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/afs"
	"github.com/anyurl/fetch/uri"
)

// mount returns a folder in place of the mount of AFS, and a client for it.
func mount(t *testing.T) (string, *fetch.Client) {
	t.Helper()
	outside := t.TempDir()
	root := filepath.Join(outside, "afs")
	for name, text := range map[string]string{"afs/cell.example/pub/motd": "hello\n", "afs/cell.example/pub/a b": "x", "secret": "secret\n"} {
		path := filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../../secret", filepath.Join(root, "cell.example/pub/out")); err != nil {
		t.Fatal(err)
	}
	return root, schemetest.NewClient(t, afs.Schemes(afs.Options{Root: root}))
}

// TestFiles retrieves files by each form of URL, and none outside the mount.
func TestFiles(t *testing.T) {
	_, c := mount(t)
	for url, want := range map[string]string{
		"afs:/afs/cell.example/pub/motd":          "ok hello\n",
		"afs:///afs/cell.example/pub/motd":        "ok hello\n",
		"afs:///cell.example/pub/motd":            "ok hello\n",
		"afs://cell.example/pub/motd":             "ok hello\n",
		"afs://CELL.example/pub/%6Dotd":           "ok hello\n",
		"afs://cell.example/pub/a%20b":            "ok x",
		"afs://cell.example/../../secret":         "not-found ",
		"afs://cell.example/%2e%2e/%2e%2e/secret": "not-found ",
		"afs:/afs/../secret":                      "not-found ",
		"afs://cell.example/pub/out":              "policy-address ",
		"afs://cell.example/none":                 "not-found ",
		"afs://none.example/":                     "not-found ",
		"afs://cell.example:1/pub/motd":           "invalid-uri ",
		"afs://u@cell.example/pub/motd":           "invalid-uri ",
		"afs://cell.example/pub/motd?x":           "invalid-uri ",
		"afs://cell.example/pub%2Fmotd":           "invalid-uri ",
		"afs:cell.example/pub":                    "invalid-uri ",
	} {
		r := schemetest.Exchange(t.Context(), c, schemetest.NewRequest(t, url))
		if got := r.Fault() + " " + r.Body; got != want {
			t.Errorf("%s: got %q, %v, want %q", url, got, r.Err, want)
		}
	}
}

// TestList checks that the URLs of a listing name its entries.
func TestList(t *testing.T) {
	_, c := mount(t)
	for url, want := range map[string]string{
		"afs://cell.example/pub":     "afs://cell.example/pub/a%20b afs://cell.example/pub/motd afs://cell.example/pub/out",
		"afs:/afs/cell.example/pub/": "afs:/afs/cell.example/pub/a%20b afs:/afs/cell.example/pub/motd afs:/afs/cell.example/pub/out",
		"afs:///cell.example/pub/":   "afs:///cell.example/pub/a%20b afs:///cell.example/pub/motd afs:///cell.example/pub/out",
		"afs:/afs":                   "afs:/afs/cell.example/",
		"afs:/afs/":                  "afs:/afs/cell.example/",
		"afs:///":                    "afs:///cell.example/",
		"afs://cell.example":         "afs://cell.example/pub/",
	} {
		all, err := schemetest.List(t, c, url)
		var got []string
		for _, e := range all {
			got = append(got, e.URL.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, %v, want %s", url, got, err, want)
		}
	}
}

// TestNoMount checks the error on a machine without AFS.
func TestNoMount(t *testing.T) {
	c := schemetest.NewClient(t, afs.Schemes(afs.Options{Root: filepath.Join(t.TempDir(), "none")}))
	_, _, err := schemetest.Read(t, c, "afs://cell.example/x")
	if fetch.FaultOf(err) != fetch.Local || !strings.Contains(err.Error(), "afs is not mounted") {
		t.Errorf("got %v", err)
	}
}

// TestReferral checks that no other scheme leads to local files.
func TestReferral(t *testing.T) {
	_, c := mount(t)
	u := uri.MustParse("afs://cell.example/pub/motd")
	for from, want := range map[string]fetch.Fault{"afs://cell.example/pub/": 0, "http://192.0.2.1/": fetch.BadReferral} {
		resp, err := c.Do(t.Context(), &fetch.Request{URL: u, From: &fetch.Source{URL: uri.MustParse(from)}})
		if err == nil {
			resp.Body.Close()
		}
		if want == 0 && err != nil || want != 0 && err == nil {
			t.Errorf("from %s: got %v", from, err)
		}
	}
}

func TestSuite(t *testing.T) {
	root, _ := mount(t)
	text := []byte(strings.Repeat("0123456789", 10_000))
	if err := os.WriteFile(filepath.Join(root, "cell.example/big"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return afs.Schemes(afs.Options{Root: root}) },
		Document: "afs://cell.example/big", Body: text, Missing: "afs://cell.example/none",
		Menu: "afs://cell.example/", Names: []string{"big", "pub"},
		Rejected: []string{"afs://cell.example/a%00", "afs:x", "afs://u@h/x"}, Local: true,
	})
}

// FuzzPlan checks that no URL names a file above the mount.
func FuzzPlan(f *testing.F) {
	for _, s := range []string{"//c/a", "/afs/c/a", "//c/../..", "///%2e%2e/x", "//../x"} {
		f.Add("afs:" + s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		u, err := fetch.ParseURL(url)
		if err != nil {
			return
		}
		steps, err := afs.Schemes(afs.Options{})[0].Plan(&fetch.Request{URL: u})
		if err != nil && fetch.FaultOf(err) == fetch.Internal {
			t.Errorf("got %v", err)
		}
		for _, s := range steps {
			if s.Arg != "/" && !filepath.IsLocal(strings.TrimPrefix(s.Arg, "/")) {
				t.Errorf("%s: %q", url, s.Arg)
			}
		}
	})
}
