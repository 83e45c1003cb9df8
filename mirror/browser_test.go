package mirror_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// A fakeBrowser requests the URLs that the test names for a page, and returns
// frames that the test chooses.
type fakeBrowser struct {
	requests map[string][]string // requests of a page by its path, such as "POST http://... BODY REFERER"
	frames   map[string][]browser.Frame
	errors   map[string]error
	visits   sync.Map // number of visits by URL
}

func (b *fakeBrowser) UserAgent() string { return "Browser/1" }

func (b *fakeBrowser) Cookies(uri.URI, browser.Relation) string { return "login=secret" }

// get sends a request to the handler as the proxy does.
func (b *fakeBrowser) get(ctx context.Context, h http.Handler, method, url, body, referer string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	r.Header.Set("User-Agent", "Browser/1")
	if referer != "" {
		r.Header.Set("Referer", referer)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	func() {
		defer func() { recover() }() // http.ErrAbortHandler
		h.ServeHTTP(w, r)
	}()
	return w
}

func (b *fakeBrowser) Visit(ctx context.Context, v *browser.Visit) (*browser.Page, error) {
	u := uri.MustParse(v.URL)
	n, _ := b.visits.LoadOrStore(v.URL, &atomic.Int64{})
	n.(*atomic.Int64).Add(1)
	page := b.get(ctx, v.Handler, "GET", v.URL, "", "")
	if page.Code != 200 {
		return nil, fmt.Errorf("page: %d", page.Code)
	}
	for _, request := range b.requests[u.Path()] {
		part := append(strings.Split(request, " "), "", "")
		b.get(ctx, v.Handler, part[0], part[1], part[2], cmp.Or(part[3], v.URL))
	}
	if err := b.errors[u.Path()]; err != nil {
		return nil, err
	}
	v.Navigate(strings.TrimSuffix(v.URL, u.Path())+"/opened", true)
	frames := b.frames[u.Path()]
	if frames == nil {
		frames = []browser.Frame{{URL: v.URL, HTML: page.Body.String()}}
	}
	return &browser.Page{Frames: frames, Notes: []string{"a popup was closed"},
		Copies: []browser.Copy{{Name: "text", Media: "text/plain", Data: []byte("text of " + u.Path())}}}, nil
}

// browserSite starts two servers: of pages, and of the objects that they request.
func browserSite(t *testing.T) (site, other *httptest.Server, requests func() []string) {
	var mu sync.Mutex
	var seen []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Method+" "+r.URL.Path)
		mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, strings.Repeat("script ", 400))
		case r.URL.Path == "/form":
			fmt.Fprintf(w, "answer to %s", body)
		case r.URL.Path == "/api":
			fmt.Fprint(w, "{}")
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/x.js", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/missing"), r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<p>empty shell of %s</p>", r.URL.Path)
		}
	})
	site, other = httptest.NewServer(h), httptest.NewServer(h)
	t.Cleanup(site.Close)
	t.Cleanup(other.Close)
	return site, other, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

// TestBrowser crawls pages whose links and requests only a browser finds.
func TestBrowser(t *testing.T) {
	site, other, seen := browserSite(t)
	host := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) // another host with another lease
	b := &fakeBrowser{
		requests: map[string][]string{
			"/": {"GET " + site.URL + "/a.js", "GET " + host + "/b.js", "POST " + site.URL + "/form a=1",
				"POST " + site.URL + "/api q=1", "POST " + site.URL + "/api q=2", "POST " + site.URL + "/api q=1", "GET " + site.URL + "/moved",
				"GET " + site.URL + "/missing", "GET " + site.URL + "/excluded", "GET http://10.255.255.1:22/", "GET " + site.URL + "/linked"},
			"/linked": {"GET " + site.URL + "/a.js", "GET " + host + "/b.js"},
		},
		frames: map[string][]browser.Frame{
			"/": {{URL: site.URL + "/", HTML: `<a href="/linked">made by a script</a><img src="/a.js">`}, {URL: "about:srcdoc", Origin: site.URL, HTML: `<a href=/hung>f</a>`}},
		},
		errors: map[string]error{"/hung": browser.ErrHung},
	}
	o := options(t, site.URL+"/")
	o.WARC, o.Tree, o.Browser = &mirror.WARC{}, true, b
	o.Scope.Exclude = []*regexp.Regexp{regexp.MustCompile("/excluded")}
	sum := run(t, o)
	if sum.Unread != 1 || sum.Failed != 0 || sum.Pending != 0 {
		t.Errorf("summary: %+v", sum)
	}
	states := map[string]string{}
	for _, e := range events(t, o.Dir) {
		u := uri.MustParse(e.URL)
		if _, twice := states[u.Host()+u.Path()]; twice {
			t.Errorf("two visits of %s", e.URL)
		}
		states[u.Host()+u.Path()] = e.State + map[bool]string{true: " unread"}[e.Unread]
	}
	want := map[string]string{
		"127.0.0.1/": "done", "127.0.0.1/linked": "done", "127.0.0.1/hung": "done unread", "127.0.0.1/opened": "done", "127.0.0.1/robots.txt": "excluded",
		"127.0.0.1/a.js": "done", "localhost/b.js": "done", "127.0.0.1/moved": "done", "10.255.255.1/": "excluded",
	}
	for u, state := range want {
		if states[u] != state {
			t.Errorf("%s: %q, want %q", u, states[u], state)
		}
		delete(states, u)
	}
	if len(states) > 0 {
		t.Errorf("further visits: %q", states)
	}
	for _, name := range []string{"a.js", "linked"} {
		if n := len(slices.DeleteFunc(seen(), func(r string) bool { return r != "GET /"+name })); n != 2 {
			t.Errorf("%d requests for %s", n, name)
		}
	}
	if all := recordLines(t, o.Dir); !slices.Contains(all, "resource urn:text:"+site.URL+"/") || !containsPrefix(all, "response "+site.URL+"/form") ||
		!containsPrefix(all, "response "+site.URL+"/missing") {
		t.Errorf("records: %q", all)
	}
	index, err := os.ReadFile(filepath.Join(o.Dir, "index", "all.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"q=1", "q=2"} { // with the same answer
		if n := strings.Count(string(index), "/api?__wb_method=post&"+body+" "); n != 1 {
			t.Errorf("%d captures of POST %s in %s", n, body, index)
		}
	}
	if slices.Contains(seen(), "GET /excluded") {
		t.Error("an excluded URL was requested")
	}
	checkVerify(t, o.Dir)
	if text := archiveText(t, o.Dir); strings.Contains(text, "login=secret") {
		t.Error("the archive contains a cookie of the profile")
	}
	if again := run(t, o); again.New != 0 || again.Unread != 1 {
		t.Errorf("second run: %+v", again)
	}
}

// TestBrowserErrors checks the end of a run without a browser.
func TestBrowserErrors(t *testing.T) {
	site, _, _ := browserSite(t)
	o := options(t, site.URL+"/")
	o.Browser = &fakeBrowser{errors: map[string]error{"/": browser.ErrStart}}
	if _, err := mirror.Run(t.Context(), o); !errors.Is(err, fetch.Local) {
		t.Errorf("browser that does not start: %v", err)
	}
}

func containsPrefix(all []string, prefix string) bool {
	return slices.ContainsFunc(all, func(text string) bool { return strings.HasPrefix(text, prefix) })
}

// recordLines returns the type and the URL of each record of an archive.
func recordLines(t *testing.T, dir string) (all []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc*"))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r := warc.NewReader(f); ; {
			h, err := r.Next()
			if err != nil {
				break
			}
			all = append(all, cmp.Or(string(h.Type()), "?")+" "+h.Target())
		}
	}
	return all
}

// archiveText returns the content of all WARC records of an archive.
func archiveText(t *testing.T, dir string) string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "warc", "*.warc*"))
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for r := warc.NewReader(f); ; {
			if _, err := r.Next(); err != nil {
				break
			}
			io.Copy(&all, r)
		}
	}
	return all.String()
}
