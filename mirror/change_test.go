package mirror_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// tagged is a site whose pages have an ETag, and knows who has them.
type tagged struct {
	paper
	tag string // and of what is not in special
	not int    // answers of 304
}

func (s *tagged) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if _, ok := s.paper[r.RequestURI]; !ok {
		http.NotFound(out, r)
		return
	}
	out.Header().Set("ETag", `"`+s.tag+`"`)
	if r.Header.Get("If-None-Match") == `"`+s.tag+`"` {
		s.not++
		out.WriteHeader(304)
		return
	}
	s.paper.ServeHTTP(out, r)
}

// TestChanges: what a second run finds, and what it writes.
func TestChanges(t *testing.T) {
	t.Parallel()
	const inside = 3 // pages
	for _, c := range []struct {
		name   string
		change func(s *tagged, o *mirror.Options)
		new    int64
		not    int    // pages that are as they were
		types  string // of the records that the second run adds for /one
	}{
		{"nothing", func(*tagged, *mirror.Options) {}, 0, inside, "revisit server-not-modified"},
		{"another ETag", func(s *tagged, _ *mirror.Options) { s.tag = "2" }, 0, 0, "revisit identical-payload-digest"},
		{"another text", func(s *tagged, _ *mirror.Options) { s.tag = "2"; s.paper["/one"] += "more" }, 1, 0, "response"},
		{"a wider scope", func(s *tagged, o *mirror.Options) { o.Scope.Reach = mirror.Any }, 1, inside, "revisit server-not-modified"},
		{"a file is lost", func(s *tagged, o *mirror.Options) {
			os.Remove(filepath.Join(o.Dir, "tree/http/a.example/one"))
		}, 0, inside - 1, "revisit identical-payload-digest"},
		{"a failure has passed", func(s *tagged, o *mirror.Options) { s.paper["/none"] = "there now" }, 1, inside, "revisit server-not-modified"},
		{"no more WARC", func(s *tagged, o *mirror.Options) { o.WARC = nil }, 0, inside, ""},
	} {
		for _, first := range []string{"tree and warc", "warc"} {
			if first == "warc" && (strings.HasPrefix(c.name, "no more") || c.name == "a file is lost") {
				continue
			}
			t.Run(c.name+", "+first, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					s := &tagged{paper{"/": `<a href=one><a href=two><a href=none><a href="http://b.example/">`, "/one": strings.Repeat("one\n", 500), "/two": "two"}, "1", 0}
					w.web("a.example", s)
					w.web("b.example", paper{"/": "elsewhere"})
					o := w.options("http://a.example/")
					o.Tree = first != "warc"
					run(t, o)
					before := len(recordsOf(t, o.Dir, "http://a.example/one"))
					c.change(s, &o)
					if sum := run(t, o); sum.New != c.new || s.not != c.not {
						t.Errorf("%d times 304, want %d: %+v\n%s", s.not, c.not, sum, outcomes(t, o.Dir))
					}
					if got := strings.Join(recordsOf(t, o.Dir, "http://a.example/one")[before:], ", "); got != c.types {
						t.Errorf("records %q, want %q", got, c.types)
					}
					if o.Tree && tree(t, o.Dir, "http/a.example")["one"] != s.paper["/one"] {
						t.Error("the file is not that of the server")
					}
					sound(t, o.Dir)
				})
			})
		}
	}
}

// recordsOf tells the types of the records of a URL, requests left out.
func recordsOf(t testing.TB, dir, url string) (types []string) {
	heads, _ := records(t, dir)
	for _, h := range heads {
		if h.Target() == url && h.Type() != warc.Request {
			types = append(types, strings.TrimSpace(string(h.Type())+" "+h.Get("WARC-Profile")[strings.LastIndex(h.Get("WARC-Profile"), "/")+1:]))
		}
	}
	return types
}

// TestTreeLater: a mirror that was one of WARC files alone gets its tree.
func TestTreeLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &tagged{paper{"/": `<a href=one>`, "/one": "one"}, "1", 0}
		w.web("a.example", s)
		o := w.options("http://a.example/")
		o.Tree = false
		run(t, o)
		o.Tree = true
		run(t, o)
		if got := tree(t, o.Dir, "http/a.example"); got["one"] != "one" || len(got) != 2 {
			t.Errorf("%q", got)
		}
		sound(t, o.Dir)
		if run(t, o); s.not != 2 {
			t.Errorf("%d times 304", s.not)
		}
	})
}

// TestUnchangedRecords: what has no answer for "as it was" is recorded so where
// that is wanted.
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
		if h.Type() == warc.Revisit && strings.HasSuffix(h.Target(), "/one.txt") && h.Get("WARC-Profile") == warc.NotModified {
			n++
		}
	}
	if n != 1 {
		t.Errorf("one.txt is recorded as it was %d times", n)
	}
	sound(t, o.Dir)
}
