package replay

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/scriptsites"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// captured is the date of the captures of scriptsites.
var captured = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// capture writes the answers of a server of scriptsites to an archive, and opens
// it.
func capture(t *testing.T, s *scriptsites.Server) *warc.Archive {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "sites.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	requests := scriptsites.Requests
	for _, url := range s.URLs() {
		requests = append(requests, scriptsites.Request{Method: "GET", URL: url})
	}
	for _, q := range requests {
		r := httptest.NewRequest(q.Method, q.URL, strings.NewReader(q.Body))
		r.Header.Set("Content-Type", q.Media)
		sent := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n\r\n%s", q.Method, r.URL.RequestURI(), r.Host, q.Media, q.Body)
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		received, err := httputil.DumpResponse(answer.Result(), true)
		if err != nil {
			t.Fatal(err)
		}
		c := warc.Capture{URL: uri.MustParse(q.URL), Date: captured}
		if _, err := w.Write(c.Response(strings.NewReader(string(received))), c.Request(strings.NewReader(sent))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := warc.Open(filepath.Join(dir, "sites.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// TestLibraries replays the sites of scriptsites in a browser without a proxy.
// The pages that need their original URL fail, and only these.
func TestLibraries(t *testing.T) {
	t.Parallel()
	s, address := startSite(t, Archive{"sites", capture(t, scriptsites.New(t))})
	b := browsertest.Start(t, address)
	passed := 0
	for _, c := range scriptsites.Sites {
		p := b.Open(s.PageURL(0, captured, uri.MustParse(c.URL)))
		p.Wait("/^(passed|failed)/.test(document.title)")
		got := p.Eval("document.title")
		if got == "passed" {
			passed++
		}
		if (got == "passed") == c.NeedsOriginalURL {
			t.Errorf("%s: %s: %q", c.Name, got, p.Errors())
		}
		p.Go("about:blank")
	}
	t.Logf("%d of %d sites passed", passed, len(scriptsites.Sites))
}
