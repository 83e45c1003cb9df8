package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// sinkSite starts a server of pages. The page big has 1 MiB, so that its spool is a file.
func sinkSite(t *testing.T) *httptest.Server {
	pages := map[string]string{
		"/d/": `<a href="a.html">a</a> <a href="/out.html">out</a> <a href="gone">gone</a> <a href="moved">moved</a>
			<img src="/i.png"> <a href="big">big</a> <a rel=nofollow href="b.html">b</a>`,
		"/d/a.html": `<a href="/d/">up</a>`, "/d/b.html": "b", "/out.html": "out", "/i.png": "image", "/d/big": strings.Repeat("x", 1<<20),
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case r.URL.Path == "/d/moved":
			http.Redirect(w, r, "/d/a.html", http.StatusFound)
		case !ok:
			http.NotFound(w, r)
		default:
			w.Header().Set("ETag", `"1"`)
			if strings.HasPrefix(page, "<") {
				w.Header().Set("Content-Type", "text/html")
			}
			io.WriteString(w, page)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// A memory is a Sink that stores objects and the results of visits.
type memory struct {
	bodies  fstest.MapFS
	results map[string]string // state, code and note of each visit
	links   map[string][]string
}

func newMemory() *memory {
	return &memory{fstest.MapFS{}, map[string]string{}, map[string][]string{}}
}

func (m *memory) Put(_ context.Context, v mirror.Visit) error {
	path := strings.TrimPrefix(v.URL.Path(), "/")
	m.results[path] = fmt.Sprint(v.State, " ", v.Code, v.Unchanged)
	for _, l := range v.Links {
		m.links[path] = append(m.links[path], strings.TrimSpace(l.URL.Path()+" "+l.Excluded))
	}
	if v.Body == nil {
		return nil
	}
	data, err := io.ReadAll(v.Body)
	m.bodies[path] = &fstest.MapFile{Data: data}
	if v.Response == nil || v.Size != int64(len(data)) {
		return errors.New("wrong size of " + path)
	}
	return err
}

func (m *memory) paths() []string {
	var paths []string
	for p := range m.bodies {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// TestSink checks what a Sink receives, and that no directory remains.
func TestSink(t *testing.T) {
	s := sinkSite(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	m := newMemory()
	o := mirror.Options{Seeds: []uri.URI{uri.MustParse(s.URL + "/d/")}, Client: client(t), Sink: m}
	did, err := mirror.Run(t.Context(), o)
	if err != nil || did.New != 5 || did.Failed != 1 { // with the redirect
		t.Errorf("%+v, %v", did, err)
	}
	if got := m.paths(); !slices.Equal(got, []string{"d/", "d/a.html", "d/b.html", "d/big"}) {
		t.Errorf("got %q", got)
	}
	if got := m.results["d/gone"]; got != "dead 404 false" {
		t.Errorf("gone: %s", got)
	}
	if got := m.results["d/moved"]; got != "done 302 false" {
		t.Errorf("moved: %s", got)
	}
	want := []string{"/d/a.html", "/out.html out of scope", "/d/gone", "/d/moved", "/i.png out of scope", "/d/big", "/d/b.html"}
	if got := m.links["d/"]; !slices.Equal(got, want) {
		t.Errorf("links %q", got)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("%v remains, %v", left, err)
	}
}

// TestSinkDir checks that an interrupted run with a directory continues, and
// that the next run requests all objects again.
func TestSinkDir(t *testing.T) {
	s := sinkSite(t)
	m := newMemory()
	failed := errors.New("the disk of the sink is full")
	fail := true
	o := mirror.Options{
		Dir: filepath.Join(t.TempDir(), "crawl"), Seeds: []uri.URI{uri.MustParse(s.URL + "/d/")}, Client: client(t),
		Sink: mirror.SinkFunc(func(ctx context.Context, v mirror.Visit) error {
			if fail && strings.HasSuffix(v.URL.Path(), ".html") {
				return failed
			}
			return m.Put(ctx, v)
		}),
	}
	if _, err := mirror.Run(t.Context(), o); !errors.Is(err, failed) || fetch.FaultOf(err) != fetch.Local {
		t.Errorf("got %v", err)
	}
	fail = false
	for run, same := range []string{" false", " true"} {
		m.results = map[string]string{}
		did, err := mirror.Run(t.Context(), o)
		if err != nil || did.Run != int64(run)+1 {
			t.Errorf("%+v, %v", did, err)
		}
		if got := m.results["d/a.html"]; got != "done 200"+same {
			t.Errorf("run %d: %s", run+1, got)
		}
	}
	if got := m.paths(); len(got) != 4 {
		t.Errorf("got %q", got)
	}
}

// TestFilter checks the decisions of a filter.
func TestFilter(t *testing.T) {
	s := sinkSite(t)
	m := newMemory()
	o := mirror.Options{Seeds: []uri.URI{uri.MustParse(s.URL + "/d/")}, Client: client(t), Sink: m}
	o.Scope.Filter = func(l mirror.Link) mirror.Decision {
		if !strings.HasPrefix(l.From, s.URL+"/d/") || l.Depth < 1 {
			t.Errorf("link %+v", l)
		}
		switch {
		case l.Requisite && l.Excluded != "":
			return mirror.Follow
		case strings.HasSuffix(l.URL.Path(), "big"):
			return mirror.Omit
		}
		return mirror.ByScope
	}
	if _, err := mirror.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := m.paths(); !slices.Equal(got, []string{"d/", "d/a.html", "d/b.html", "i.png"}) {
		t.Errorf("got %q", got)
	}
	if got := m.links["d/"]; !slices.Contains(got, "/d/big omitted by the filter") || !slices.Contains(got, "/i.png") {
		t.Errorf("links %q", got)
	}
}

// TestSinkOptions checks the options that a Sink excludes.
func TestSinkOptions(t *testing.T) {
	sink := newMemory()
	for name, o := range map[string]mirror.Options{
		"tree": {Sink: sink, Tree: true}, "WARC": {Sink: sink, WARC: &mirror.WARC{}}, "mail": {Sink: sink, Mail: mirror.Mbox},
		"delete": {Sink: sink, Delete: true},
	} {
		o.Client, o.Seeds = client(t), []uri.URI{uri.MustParse("http://127.0.0.1/")}
		if _, err := mirror.Run(t.Context(), o); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
