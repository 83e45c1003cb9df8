package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// TestRedirectToItself checks that an item which redirects to itself is
// requested again, up to the maximum number of redirects.
func TestRedirectToItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, to string
		times    int32 // number of redirects
		want     string
		asked    int32
	}{
		{"twice", "/d/", 2, "/d/ /d/ /d/ /d/x", 3},
		{"to another spelling", "HTTP://a.example:80/%64/", 1, "/%64/ /d/ /d/x", 2},
		{"maximum number of redirects", "/d/", 10, strings.Repeat("/d/ ", 11) + "/d/x", 11},
		{"endless redirects", "/d/", 99, strings.TrimSpace(strings.Repeat("/d/ ", 11)), 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				var asked atomic.Int32
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == "/robots.txt":
						http.NotFound(out, r)
					case r.URL.Path == "/d/" && asked.Add(1) <= c.times:
						out.Header().Set("Location", c.to)
						out.WriteHeader(http.StatusFound)
					default:
						out.Header().Set("Content-Type", "text/html")
						io.WriteString(out, `<a href="x">`)
					}
				}))
				o := w.options("http://a.example/d/")
				sum := run(t, o)
				got := strings.ReplaceAll(w.requests(), "http://a.example/", "/")
				if got != c.want || asked.Load() != c.asked || sum.Failed > 0 {
					t.Errorf("requests:\n%s\nwant:\n%s\n%+v", got, c.want, sum)
				}
				if e := events(t, o.Dir)[0]; (e.Note == "too many redirects") != (c.times > 10) {
					t.Errorf("notes %q", e.Note)
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestRefusalNamesSetting checks that the event of a rejected URL contains the
// text of Options.Override.
func TestRefusalNamesSetting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.policy = fetch.Typed()
		w.web("a.example", webSite{"/d/": `<a href="x"><a href="http://a.example:25/d/"><a href="gopher://a.example/d/"><a href="http://10.0.0.1/d/"><a href="http://169.254.42.42/d/">`, "/d/x": ""})
		o := w.options("http://a.example/d/")
		o.Scope.Reach = mirror.Any
		o.Override = func(s override.Setting) string {
			if s.Kind == override.Ports {
				return "allow port " + s.Value
			}
			return s.String()
		}
		run(t, o)
		got := map[string]string{}
		for _, e := range events(t, o.Dir) {
			if e.State == "excluded" && !strings.HasSuffix(e.URL, "/robots.txt") {
				got[e.URL] = e.Override
			}
		}
		want := map[string]string{"http://a.example:25/d/": "allow port http:25:any", "gopher://a.example/d/": "Policy.Redirects gopher",
			"http://10.0.0.1/d/": "", "http://169.254.42.42/d/": ""}
		for u, setting := range want {
			if found, ok := got[u]; !ok || found != setting {
				t.Errorf("%s: %q, %t, want %q", u, found, ok, setting)
			}
		}
	})
}

// TestRedirectMedia checks that the media type of a redirect is not compared
// with the accepted media types, and that its record has the complete body.
func TestRedirectMedia(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/to":
				out.Header().Set("Content-Type", "text/plain")
				out.Header().Set("Location", "/image")
				out.WriteHeader(http.StatusFound)
				io.WriteString(out, "the body of the redirect")
			case "/image":
				out.Header().Set("Content-Type", "image/png")
				io.WriteString(out, "an image")
			default:
				http.NotFound(out, r)
			}
		}))
		o := w.options("http://a.example/to")
		o.Scope.Accept = []string{"image/png"}
		run(t, o)
		heads, blocks := records(t, o.Dir)
		bodies := map[string]string{}
		for i, h := range heads {
			if h.Type() == warc.Response && h.Get("WARC-Truncated") == "" {
				_, bodies[h.Target()], _ = strings.Cut(blocks[i], "\r\n\r\n")
			}
		}
		if bodies["http://a.example/to"] != "the body of the redirect" || bodies["http://a.example/image"] != "an image" {
			t.Errorf("recorded bodies %q\n%s", bodies, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	})
}

// TestRedirectKeepsFile checks that a redirect replaces no file in the tree, and
// that a later object does.
func TestRedirectKeepsFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, to string
		note     string
	}{
		{"to a page in scope", "/maintenance", "redirected: tree/ keeps the earlier object"},
		{"to an excluded host", "http://b.example/", "the redirect leads to http://b.example/: "},
	} {
		for _, withWARC := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, WARC %t", c.name, withWARC), func(t *testing.T) {
				short.Sample(t, 2)
				synctest.Test(t, func(t *testing.T) {
					w := newNetwork(t)
					s := webSite{"/": `<a href=file.txt>`, "/file.txt": "important", "/maintenance": "back soon"}
					w.web("a.example", s)
					o := w.options("http://a.example/")
					if o.Delete, o.MaxDelete = true, 1; !withWARC {
						o.WARC = nil
					}
					run(t, o)
					s["/file.txt"] = "-> " + c.to
					for range 2 {
						run(t, o)
						if got := tree(t, o.Dir, "http/a.example")["file.txt"]; got != "important" {
							t.Errorf("the file is now %q\n%s", got, outcomes(t, o.Dir))
						}
						checkVerify(t, o.Dir)
					}
					if withWARC && len(recordsOf(t, o.Dir, "http://a.example/file.txt")) != 3 {
						t.Error("the redirects were not recorded")
					}
					for _, e := range events(t, o.Dir) {
						if strings.HasSuffix(e.URL, "/file.txt") && e.Run > 1 && !strings.HasPrefix(e.Note, c.note) {
							t.Errorf("note %q, want %q", e.Note, c.note)
						}
					}
					s["/file.txt"] = "changed"
					run(t, o)
					if got := tree(t, o.Dir, "http/a.example")["file.txt"]; got != "changed" {
						t.Errorf("after the redirect: %q", got)
					}
					checkVerify(t, o.Dir)
				})
			})
		}
	}
}

// TestRejectedSeed checks which events mark a seed as rejected.
func TestRejectedSeed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		seed  string // content of the seed in the second run; "" means 404
		event string // URL whose event is marked
	}{
		{"unchanged", `<a href=/page>`, ""},
		{"changed, without the link", `changed`, ""},
		{"deleted", "", "http://a.example/"},
		{"redirect to a page", "-> /page", ""},
		{"redirect to a denied address", "-> http://10.0.0.1/", "http://10.0.0.1/"},
		{"redirect to another scheme", "-> telnet://a.example/", "http://a.example/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.policy = fetch.Typed()
				s := webSite{"/": `<a href=/page><a href=/other>`, "/page": `<a href=http://10.0.0.2/>`, "/other": "other"}
				w.web("a.example", s)
				o := w.options("http://a.example/")
				o.Scope.Reach = mirror.Any
				run(t, o)
				delete(s, "/other")
				if s["/"] = c.seed; c.seed == "" {
					delete(s, "/")
				}
				run(t, o)
				var got []string
				for _, e := range events(t, o.Dir) {
					if e.Rejected {
						got = append(got, e.URL)
					}
				}
				if strings.Join(got, " ") != c.event {
					t.Errorf("rejected: %q, want %q\n%s", got, c.event, outcomes(t, o.Dir))
				}
			})
		})
	}
}
