package http_test

import (
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/autoindex"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// listedDirs has the directories of the recorded listings. The default is "/".
var listedDirs = map[string]string{
	"apache-fancy": "http://h/fancy/", "apache-table": "http://h/table/", "iis": "http://h/x/", "busybox": "http://h/x/", "thttpd": "http://h/x/",
	"webfs": "http://127.0.0.1:28101/",
}

// TestListingDetection checks that the listing of each server is a menu,
// regardless of the size of the reads. Where the structure is specific to a
// server, the title is not required.
func TestListingDetection(t *testing.T) {
	files, err := filepath.Glob("testdata/autoindex/*.html")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d listings, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		url := "http://h/"
		if at, ok := listedDirs[name]; ok {
			url = at
		}
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				w.Header().Set("Content-Type", "text/html")
				n := len(page)/10 + 1
				for rest := page; len(rest) > 0; rest = rest[min(n, len(rest)):] {
					w.Write(rest[:min(n, len(rest))])
					w.(nethttp.Flusher).Flush()
				}
			}))
			defer s.Close()
			client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
			defer client.Close()
			resp, err := client.Get(t.Context(), s.URL+uri.MustParse(url).Path())
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != string(page) || resp.Kind != fetch.Menu {
				t.Errorf("kind %v, %d bytes, %v", resp.Kind, len(body), err)
			}
		})
	}
}

// TestPageIsNotListing checks that an ordinary page with links is a document.
func TestPageIsNotListing(t *testing.T) {
	for name, page := range map[string]string{
		"empty":                  "",
		"text":                   "<html>hello",
		"links with words":       `<title>Home</title><ul><li><a href="a.html">About us</a><li><a href="b.html">News</a></ul>`,
		"names without a path":   `<title>Files</title><ul><li><a href="a.txt">a.txt</a><li><a href="b.txt">b.txt</a></ul>`,
		"prose before names":     `<title>/</title><p>My files:<pre><a href="a.txt">a.txt</a> 2026-01-02 03:04 5`,
		"a blog":                 `<title>Blog</title><ul><li>2026-01-02 03:04 <a href="a">First post</a><li>2026-01-03 03:04 <a href="b">Second</a></ul>`,
		"an index of words":      `<title>Index of terms</title><ul><li><a href="a.html">Aardvark</a></ul>`,
		"navigation":             `<title>x - /d/</title><a href="/">Home</a> <a href="/a/b">x</a> <a href="/c/d">y</a> <a href="//o/">z</a> <a href="f">f</a>`,
		"names among many links": `<h1>/d/</h1><pre><a href="f">f</a></pre><a href="http://a/">1</a><a href="http://b/">2</a><a href="http://c/">3</a>`,
		"one matching link":      `<title>Welcome</title><table><tr><td><a href="f">f</a></td></tr></table>`,
		"deeper links":           `<title>/d/</title><ul><li><a href="a/b">b</a><li><a href="a/c">c</a><li><a href="a/e">e</a></ul>`,
		"names with a note":      `<pre><a href="f">f</a></pre>See also`,
		"names without pre":      `<a href="f">f</a>`,
		"names in a page":        `<pre><a href="f">f</a></pre><img src="/x.png">`,
		"words in pre":           `<pre><a href="f">first</a></pre>`,
		"parent in pre":          `<pre><a href="../">../</a></pre>`,
		"text in pre":            `<pre>hello</pre>`,
		"no links":               `<title>/d/</title><h1>/d/</h1>`,
		"script":                 `<title>App</title><script>document.write("<title>Index of /</title>")</script>`,
		"comment":                `<!-- <title>Index of /</title> --><body>hello`,
	} {
		if ok, _ := autoindex.IsListing(uri.MustParse("http://h/d/"), []byte(page), true); ok {
			t.Errorf("%s: %q is a listing", name, page)
		}
	}
}

// TestEmptyListings checks that the listing of an empty directory is a menu.
func TestEmptyListings(t *testing.T) {
	for name, page := range map[string]string{
		"nginx": "<html>\r\n<head><title>Index of /d/</title></head>\r\n<body>\r\n<h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n</pre><hr></body>\r\n</html>",
		"iis":   `<html><head><title>localhost - /d/</title></head><body><H1>localhost - /d/</H1><hr><pre><A HREF="/">[To Parent Directory]</A><br><br></pre><hr></body></html>`,
		"webfs": "<head><title>h:80/d/</title></head>\n<body>\n<h1>listing: \n<a href=\"/\">/</a><a href=\"/d/\">d/</a></h1><hr noshade size=1><pre>\n<b>access      user      group     date             size  name</b>\n\n</pre><hr noshade size=1>\n<small><a href=\"http://bytesex.org/webfs.html\">webfs/1.21</a></small>\n</body>",
	} {
		if ok, _ := autoindex.IsListing(uri.MustParse("http://h/d/"), []byte(page), true); !ok {
			t.Errorf("%s: not a listing", name)
		}
	}
}

// TestFileServer lists directories of Go's net/http, whose pages have neither a
// title nor dates.
func TestFileServer(t *testing.T) {
	names := []string{"a b.txt", "a.txt", "empty/", "q?#%<&.txt", "sub/"}
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, name)
		create := func() error { return os.WriteFile(path, nil, 0o600) }
		if strings.HasSuffix(name, "/") {
			create = func() error { return os.Mkdir(path, 0o700) }
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(nethttp.FileServer(nethttp.Dir(root)))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()
	for dir, want := range map[string][]string{"": names, "/": names, "/empty/": nil} {
		var got []string
		for e, err := range client.List(t.Context(), s.URL+dir) {
			if err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			name := e.Name
			if e.Kind == fetch.Menu {
				name += "/"
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// TestPageNotDelayed checks that the caller receives the start of a page while
// the server sends no further bytes.
func TestPageNotDelayed(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "<html><title>Log</title><style>p{}</style><p>hello")
		w.(nethttp.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, http.Schemes(http.Options{})...)
	defer client.Close()
	resp, err := client.Get(t.Context(), s.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<10)
	n, err := resp.Body.Read(b)
	if got := string(b[:n]); !strings.HasSuffix(got, "hello") || resp.Kind != fetch.Document {
		t.Errorf("got %q, %v, %v", got, resp.Kind, err)
	}
	close(release)
	resp.Body.Close()
}
