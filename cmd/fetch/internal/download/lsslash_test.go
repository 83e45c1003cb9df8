package download_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestListWithoutSlash lists directories that a web server sends without a
// redirect, in the form of aiohttp. Other pages are no listings.
func TestListWithoutSlash(t *testing.T) {
	pages := map[string]string{
		"/static/dir":     `<html><head><title>Index of /dir</title></head><body><h1>Index of /dir</h1><ul><li><a href="/static/dir/a.txt">a.txt</a></li><li><a href="/static/dir/sub">sub/</a></li></ul></body></html>`,
		"/a%20b":          `<title>Directory listing for /a b/</title><ul><li><a href="c.txt">c.txt</a></ul>`,
		"/pub/index.html": `<title>Index of /pub/</title><a href="/pub/x">x</a>`,
		"/text.html":      `<title>Notes</title>Index of /text.html`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		page, ok := pages[path]
		if !ok && len(path) > 1 && path[len(path)-1] == '/' {
			page, ok = pages[path[:len(path)-1]]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, page)
	}))
	defer s.Close()
	for _, c := range []struct {
		path, want string
		exit       int
	}{
		{"/static/dir", s.URL + "/static/dir/a.txt\n" + s.URL + "/static/dir/sub\n", 0},
		{"/static/dir/", s.URL + "/static/dir/a.txt\n" + s.URL + "/static/dir/sub\n", 0},
		{"/a%20b", s.URL + "/a%20b/c.txt\n", 0},
		{"/pub/index.html", "", 12},
		{"/text.html", "", 12},
	} {
		if got := commandtest.Run(t, c.exit, "ls", "--urls", s.URL+c.path); got != c.want {
			t.Errorf("%s: got %q, want %q", c.path, got, c.want)
		}
	}
}
