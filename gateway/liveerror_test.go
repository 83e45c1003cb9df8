package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLiveFailure checks the pages for live URLs that cannot be retrieved: the
// cause in words, the link that tries again, and the form with the URL.
func TestLiveFailure(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<body>no such page")
		}
	}))
	defer server.Close()
	h := newLive(t, func(o *Options) {
		o.Archives = []Archive{{Name: "a", Source: openSample(t, sample{"20240101", "gopher://" + closed.Addr().String() + "/0/x", "text/plain", "old"})}}
	})
	for _, c := range []struct {
		name, path string
		status     int
		want       []string
	}{
		{"closed port", "/live/gopher://" + closed.Addr().String() + "/0/x", 502, []string{
			"<p>The server could not be reached", `href="/live/gopher://` + closed.Addr().String() + `/0/x">Try again</a>`,
			`href="/archive/a/20240101000000/gopher://` + closed.Addr().String() + `/0/x">Capture of this URL in a</a>`,
			`value="gopher://` + closed.Addr().String() + `/0/x"`}},
		{"closed port, only bytes", "/raw/gopher://" + closed.Addr().String() + "/0/x", 502, []string{"!Try again", "!<form"}},
		{"status of an error page", "/live/" + server.URL + "/missing", 404, []string{"no such page", "Status 404 Not Found"}},
	} {
		checkResponse(t, get(h, "GET", c.path), c.status, c.want)
		if t.Failed() {
			t.Fatal(c.name)
		}
	}
}

// TestHomeExamples checks that the first page offers only schemes that the server
// shows.
func TestHomeExamples(t *testing.T) {
	for _, c := range []struct {
		schemes []string
		want    int
	}{{nil, len(exampleURLs)}, {[]string{"gopher", "ftp"}, 2}, {[]string{"telnet"}, 0}} {
		body := get(newLive(t, func(o *Options) { o.Live.Schemes = c.schemes }), "GET", "/").Body.String()
		if n := strings.Count(body, `href="/live/`); n != c.want {
			t.Errorf("%d examples for the schemes %q, want %d", n, c.schemes, c.want)
		}
		if strings.Count(body, "Open a URL") != 1 {
			t.Error("the first page does not name the form once")
		}
	}
}
