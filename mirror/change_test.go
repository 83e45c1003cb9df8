package mirror_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// taggedSite is a site whose responses have an ETag. It counts the responses
// with status 304.
type taggedSite struct {
	webSite
	tag         string // the ETag of all pages, and the content of most of them
	notModified int    // number of 304 responses
}

func (s *taggedSite) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if _, ok := s.webSite[r.RequestURI]; !ok {
		http.NotFound(out, r)
		return
	}
	out.Header().Set("ETag", `"`+s.tag+`"`)
	if r.Header.Get("If-None-Match") == `"`+s.tag+`"` {
		s.notModified++
		out.WriteHeader(304)
		return
	}
	s.webSite.ServeHTTP(out, r)
}

// TestChanges checks which changes a second run detects, and the records that
// it writes.
func TestChanges(t *testing.T) {
	t.Parallel()
	const inside = 3 // number of pages of the site
	for _, c := range []struct {
		name   string
		change func(s *taggedSite, o *mirror.Options)
		new    int64
		not    int    // number of unchanged pages
		types  string // types of the records that the second run adds for /one
	}{
		{"no change", func(*taggedSite, *mirror.Options) {}, 0, inside, "revisit server-not-modified"},
		{"changed ETag", func(s *taggedSite, _ *mirror.Options) { s.tag = "2" }, 0, 0, "revisit identical-payload-digest"},
		{"changed content", func(s *taggedSite, _ *mirror.Options) { s.tag = "2"; s.webSite["/one"] += "more" }, 1, 0, "response"},
		{"wider scope", func(s *taggedSite, o *mirror.Options) { o.Scope.Reach = mirror.Any }, 1, inside, "revisit server-not-modified"},
		{"deleted file in the tree", func(s *taggedSite, o *mirror.Options) {
			os.Remove(filepath.Join(o.Dir, "tree/http/a.example/one"))
		}, 0, inside - 1, "revisit identical-payload-digest"},
		{"page that was missing", func(s *taggedSite, o *mirror.Options) { s.webSite["/none"] = "there now" }, 1, inside, "revisit server-not-modified"},
		{"run without WARC", func(s *taggedSite, o *mirror.Options) { o.WARC = nil }, 0, inside, ""},
	} {
		for _, first := range []string{"tree and warc", "warc"} {
			if first == "warc" && (c.name == "run without WARC" || c.name == "deleted file in the tree") {
				continue
			}
			t.Run(c.name+", "+first, func(t *testing.T) {
				short.Sample(t, 6)
				synctest.Test(t, func(t *testing.T) {
					w := newNetwork(t)
					s := &taggedSite{webSite{"/": `<a href=one><a href=two><a href=none><a href="http://b.example/">`, "/one": strings.Repeat("one\n", 500), "/two": "two"}, "1", 0}
					w.web("a.example", s)
					w.web("b.example", webSite{"/": "elsewhere"})
					o := w.options("http://a.example/")
					o.Tree = first != "warc"
					run(t, o)
					before := len(recordsOf(t, o.Dir, "http://a.example/one"))
					c.change(s, &o)
					if sum := run(t, o); sum.New != c.new || s.notModified != c.not {
						t.Errorf("%d times 304, want %d: %+v\n%s", s.notModified, c.not, sum, outcomes(t, o.Dir))
					}
					if got := strings.Join(recordsOf(t, o.Dir, "http://a.example/one")[before:], ", "); got != c.types {
						t.Errorf("records %q, want %q", got, c.types)
					}
					if o.Tree && tree(t, o.Dir, "http/a.example")["one"] != s.webSite["/one"] {
						t.Error("the file differs from the file of the server")
					}
					checkVerify(t, o.Dir)
				})
			})
		}
	}
}

// recordsOf returns the types of the records of a URL, except request records.
func recordsOf(t testing.TB, dir, url string) (types []string) {
	heads, _ := records(t, dir)
	for _, h := range heads {
		if h.Target() == url && h.Type() != warc.Request {
			types = append(types, strings.TrimSpace(string(h.Type())+" "+h.Get("WARC-Profile")[strings.LastIndex(h.Get("WARC-Profile"), "/")+1:]))
		}
	}
	return types
}

// TestTreeAdded checks that an archive with only WARC files can get a tree
// later.
func TestTreeAdded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		s := &taggedSite{webSite{"/": `<a href=one>`, "/one": "one"}, "1", 0}
		w.web("a.example", s)
		o := w.options("http://a.example/")
		o.Tree = false
		run(t, o)
		o.Tree = true
		run(t, o)
		if got := tree(t, o.Dir, "http/a.example"); got["one"] != "one" || len(got) != 2 {
			t.Errorf("%q", got)
		}
		checkVerify(t, o.Dir)
		if run(t, o); s.notModified != 2 {
			t.Errorf("%d times 304", s.notModified)
		}
	})
}

// TestUnchangedRecords checks that WARC.Unchanged adds revisit records for
// protocols other than HTTP.
func TestUnchangedRecords(t *testing.T) {
	t.Parallel()
	s := sites["file"](t)
	o := options(t, s.urls...)
	o.WARC.Unchanged = true
	run(t, o)
	run(t, o)
	n := 0
	heads, _ := records(t, o.Dir)
	for _, h := range heads {
		if h.Type() == warc.Revisit && strings.HasSuffix(h.Target(), "/one.txt") && h.Get("WARC-Profile") == warc.ServerNotModified {
			n++
		}
	}
	if n != 1 {
		t.Errorf("one.txt is recorded as unchanged %d times", n)
	}
	checkVerify(t, o.Dir)
}
