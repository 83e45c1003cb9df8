package mirror_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// validatingSite is a webSite whose responses have an entity tag or, for paths
// with "dated", a modification time. It counts the responses by status.
type validatingSite struct {
	webSite
	mu     sync.Mutex
	status map[int]int
}

func (s *validatingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s.webSite[r.RequestURI]
	if strings.Contains(r.RequestURI, "dated") {
		w.Header().Set("Last-Modified", "Mon, 01 Jan 1990 00:00:00 GMT")
	} else {
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(body)))[:12]))
	}
	unchanged := r.Header.Get("If-None-Match") != "" && r.Header.Get("If-None-Match") == w.Header().Get("ETag") ||
		r.Header.Get("If-Modified-Since") != "" && r.Header.Get("If-Modified-Since") == w.Header().Get("Last-Modified")
	code := 200
	switch {
	case !ok:
		code = 404
	case strings.HasPrefix(body, "-> "):
		code = 302
	case unchanged:
		code = 304
	}
	if r.URL.Path != "/robots.txt" {
		s.mu.Lock()
		s.status[code]++
		s.mu.Unlock()
	}
	if code == 304 {
		w.WriteHeader(304)
		return
	}
	s.webSite.ServeHTTP(w, r)
}

// counts returns the number of responses by status, and resets them.
func (s *validatingSite) counts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprint(s.status)
	s.status = map[int]int{}
	return text
}

func newValidatingSite() *validatingSite {
	same := strings.Repeat("a text that is twice there\n", 100)
	s := &validatingSite{status: map[int]int{}, webSite: webSite{
		"/":        `<a href=one.txt><a href=dated/two.txt><a href=three.txt><a href=none><a href=to><a href=sub/page.html><a href="q?b=1&PHPSESSID=abc">`,
		"/one.txt": same, "/dated/two.txt": "dated\n", "/three.txt": same, "/to": "-> /one.txt",
		"/sub/page.html": `<a href=deep.txt><a href=Deep.txt>`, "/sub/deep.txt": "deep\n", "/sub/Deep.txt": "another name\n", "/q?b=1&PHPSESSID=abc": "q\n",
	}}
	return s
}

// remove removes files of an archive.
func remove(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if err := os.RemoveAll(f); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func recoverArchive(t testing.TB, o mirror.Options) mirror.Recovered {
	t.Helper()
	r, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newValidatingArchive runs a mirror of a validatingSite, and returns the site
// and the options of the run.
func newValidatingArchive(t *testing.T, tree, warc bool) (*validatingSite, mirror.Options) {
	t.Helper()
	w := newNetwork(t)
	s := newValidatingSite()
	w.web("a.example", s)
	o := w.options("http://a.example/")
	if o.Tree = tree; !warc {
		o.WARC = nil
	}
	run(t, o)
	return s, o
}

// checkNeedsRecovery checks that a run of an archive without a database fails.
func checkNeedsRecovery(t *testing.T, o mirror.Options) {
	t.Helper()
	if _, err := mirror.Run(t.Context(), o); !mirror.NeedsRecovery(err) || fetch.FaultOf(err) != fetch.Local {
		t.Errorf("run without a database: %v", err)
	}
}

// TestRecover checks that a run after Recover retrieves no unchanged object
// that has a validator.
func TestRecover(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tree, warc bool
		lost       []string // files that are lost in addition to the database
		want       string   // responses of the next run by status
	}{
		"tree":                     {tree: true, want: "map[302:1 304:8 404:1]"},
		"WARC":                     {warc: true, want: "map[302:1 304:8 404:1]"},
		"both":                     {tree: true, warc: true, want: "map[302:1 304:8 404:1]"},
		"WARC without crawl.jsonl": {warc: true, lost: []string{"crawl.jsonl"}, want: "map[302:1 304:8 404:1]"},
		"both without crawl.jsonl": {tree: true, warc: true, lost: []string{"crawl.jsonl"}, want: "map[302:1 304:8 404:1]"},
		"tree without crawl.jsonl": {tree: true, lost: []string{"crawl.jsonl"}, want: "map[200:8 302:1 404:1]"},
		"both without tree":        {tree: true, warc: true, lost: []string{"tree"}, want: "map[200:8 302:1 404:1]"},
		"both without WARC files":  {tree: true, warc: true, lost: []string{"warc/*"}, want: "map[200:8 302:1 404:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				s, o := newValidatingArchive(t, c.tree, c.warc)
				time.Sleep(time.Hour)
				run(t, o)
				s.counts()
				want := digests(tree(t, o.Dir, ""))
				remove(t, o.Dir, append(c.lost, "fetch.db*")...)
				checkNeedsRecovery(t, o)
				r := recoverArchive(t, o)
				t.Logf("%+v", r)
				sum := run(t, o)
				if got := s.counts(); got != c.want || sum.Run < 2 && c.lost == nil {
					t.Errorf("responses %s, want %s; %+v", got, c.want, sum)
				}
				if got := digests(tree(t, o.Dir, "")); got != want {
					t.Errorf("the tree differs:\n%s", differ(got, want))
				}
				checkVerify(t, o.Dir)
				if _, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client}); !errors.Is(err, mirror.ErrIntact) {
					t.Errorf("with an intact database: %v", err)
				}
			})
		})
	}
}

// TestRecoverMedia checks that Recover recognizes the media type of a response
// without a Content-Type field.
func TestRecoverMedia(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil // net/http adds no field
		io.WriteString(w, `<html><a href="/">home</a></html>`)
	}))
	defer s.Close()
	o := options(t, s.URL+"/")
	o.WARC = &mirror.WARC{Prefix: "test"}
	run(t, o)
	media := func() (found string) {
		for l, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Dump(t.Context(), mirror.Done) {
			if err != nil {
				t.Fatal(err)
			}
			if l.URL == s.URL+"/" {
				found = l.Media
			}
		}
		return found
	}
	want := media()
	remove(t, o.Dir, "crawl.jsonl", "fetch.db*")
	if recoverArchive(t, o); media() != want || want != "text/html; charset=utf-8" {
		t.Errorf("got media type %q after recovery, %q before", media(), want)
	}
}

// TestRecoverServers recovers archives of real servers. The next run retrieves
// only listings, and objects without a validator.
func TestRecoverServers(t *testing.T) {
	t.Parallel()
	for name, start := range sites {
		for _, form := range []string{"tree", "warc", "tree and warc"} {
			if name == "file" && form != "tree" {
				continue // as ftp
			}
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				o := options(t, start(t).urls...)
				if o.Tree = form != "warc"; form == "tree" {
					o.WARC = nil
				}
				if name == "nntp" {
					o.Mail = mirror.Mbox
				}
				run(t, o)
				want, before := files(t, o.Dir), len(events(t, o.Dir))
				remove(t, o.Dir, "fetch.db*")
				if r := recoverArchive(t, o); r.LostRecords+r.DamagedLines+r.DamagedRecords+r.Unlogged > 0 {
					t.Errorf("%+v", r)
				}
				if sum := run(t, o); sum.New > 0 || sum.Gone > 0 || sum.Run != 2 {
					t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
				}
				for _, e := range events(t, o.Dir)[before:] {
					listing := strings.HasSuffix(e.URL, "/") || strings.Contains(e.URL, "/local.")
					if e.Size > 0 && e.State != "excluded" && !listing && name != "gopher" {
						t.Errorf("%s was retrieved again", e.URL)
					}
				}
				if got := files(t, o.Dir); got != want {
					t.Errorf("the files differ:\n%s", differ(got, want))
				}
				checkVerify(t, o.Dir)
			})
		}
	}
}

// files returns the digests of the files in tree/ and of the sorted lines of
// the files in mail/.
func files(t testing.TB, dir string) string {
	t.Helper()
	all := tree(t, dir, "")
	boxes, err := filepath.Glob(filepath.Join(dir, "mail/*/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range boxes {
		all[name] = sortedLines(strings.Split(content(t, name), "\n"))
	}
	return digests(all)
}
