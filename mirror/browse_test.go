package mirror_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// TestBrowse checks that the pages of a browsable copy link to each other, and
// that the archive does not change.
func TestBrowse(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{})
	page := `<a href="/sub/two.html#part">two</a><a href='http://elsewhere.example/'>out</a><img src="i.png"><link rel=stylesheet href=s.css>`
	s.Put("index.html", []byte(page))
	s.Put("sub/two.html", []byte(`<a href="../">up</a>`))
	s.Put("i.png", []byte("\x89PNG"))
	s.Put("s.css", []byte(`body { background: url("i.png") }`))
	o := options(t, "http://"+s.Addr+"/")
	run(t, o)
	to := t.TempDir()
	if err := mirror.Browse(t.Context(), o, to); err != nil {
		t.Fatal(err)
	}
	host := filepath.Join(to, "http", treeHost(s.Addr))
	for name, want := range map[string]string{
		"index.html":   strings.NewReplacer("/sub/two.html", "sub/two.html", "=stylesheet href=s.css", `="stylesheet" href="s.css"`).Replace(page),
		"sub/two.html": `<a href="../index.html">up</a>`,
		"s.css":        `body { background: url("i.png") }`,
		"i.png":        "\x89PNG",
	} {
		got, err := os.ReadFile(filepath.Join(host, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if got := tree(t, o.Dir, "http/"+treeHost(s.Addr))["index.html"]; got != page {
		t.Errorf("the archive has %q", got)
	}
}

// TestBrowseLinks checks which links of a browsable copy lead to other copies,
// if their URLs redirect to other URLs or were deleted on the server.
func TestBrowseLinks(t *testing.T) {
	t.Parallel()
	redirects := map[string]string{
		"/": "/en/", "/docs": "/docs/", "/logo": "/logo.png", "/1": "/2", "/2": "/docs/", "/loop": "/pool", "/pool": "/loop",
		"/out": "http://elsewhere.example/", "/gone": "/gone.html",
	}
	files := map[string][2]string{
		"/en/":   {"text/html", `<a href="/docs">1</a><a href="/docs/#x">2</a><img src="/logo"><a href="/1">3</a><a href="/loop">4</a><a href="/out">5</a><a href="/gone.html">6</a><a href="/gone">7</a><a href="/page">8</a><a href="/page.html">9</a>`},
		"/docs/": {"text/html", `<a href="/docs">docs</a>`},
		"/page":  {"text/html", "1"}, "/page.html": {"text/html", "2"},
		"/logo.png": {"image/png", "x"}, "/gone.html": {"text/html", "gone"},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch to := redirects[r.URL.Path]; {
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		case !ok:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", f[0])
			io.WriteString(w, f[1])
		}
	}))
	defer s.Close()
	o := options(t, s.URL+"/")
	o.Delete, o.MaxDelete = true, 1
	run(t, o)
	check := func(page, redirect string) {
		t.Helper()
		to := t.TempDir()
		if err := mirror.Browse(t.Context(), o, to); err != nil {
			t.Fatal(err)
		}
		host := "http/" + treeHost(s.Listener.Addr().String())
		for name, want := range map[string]string{
			"index.html": `<a href="` + host + `/en/index.html">`,
			host + "/en/index.html": `<a href="../docs/index.html">1</a><a href="../docs/index.html#x">2</a><img src="../logo.png">` +
				`<a href="../docs/index.html">3</a><a href="` + s.URL + `/loop">4</a><a href="` + s.URL + `/out">5</a>` +
				`<a href="` + page + `">6</a><a href="` + redirect + `">7</a>` +
				`<a href="../page~.html">8</a><a href="../page.html">9</a>`,
			host + "/docs/index.html": `<a href="index.html">docs</a>`,
		} {
			if got := content(t, filepath.Join(to, filepath.FromSlash(name))); !strings.Contains(got, want) {
				t.Errorf("%s is %q; want %q", name, got, want)
			}
		}
	}
	check("../gone.html", "../gone.html")
	delete(files, "/gone.html")
	run(t, o)
	check(s.URL+"/gone.html", s.URL+"/gone")
	if _, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client, Force: true}); err != nil {
		t.Fatal(err)
	}
	check(s.URL+"/gone.html", s.URL+"/gone")
}

// TestBrowseCodings checks that files with a content coding are decoded, except
// files that are compressed themselves.
func TestBrowseCodings(t *testing.T) {
	t.Parallel()
	pack := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	brotlied := func(text string) string {
		var b bytes.Buffer
		z := brotli.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	page := `<a href="two.html?token=1">two</a> <a href="file.tar.gz">t</a> <a href="cut.html">c</a> <link rel=stylesheet href="a.css">`
	files := map[string][2]string{ // media type and body
		"/": {"text/html", pack(page)}, "/two.html?token=1": {"text/html", brotlied(`<a href="./?token=2">back</a>`)},
		"/file.tar.gz": {"application/x-tar", pack("tar")}, "/a.css": {"text/css", brotlied("a{color:red}")},
		"/cut.html": {"text/html", pack(page)[:40]},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f[0])
		io.WriteString(w, f[1])
	}))
	defer s.Close()
	o := options(t, s.URL+"/")
	o.Scope.IgnoreParameters = []string{"Token"}
	run(t, o)
	to := t.TempDir()
	if err := mirror.Browse(t.Context(), o, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"index.html":              `href="two.html@q=token=1.html"`,
		"two.html@q=token=1.html": `<a href="index.html">back</a>`,
		"file.tar.gz":             files["/file.tar.gz"][1],
		"a.css":                   "a{color:red}",
		"cut.html":                strings.ReplaceAll(files["/cut.html"][1], "\x00", " "), // a copy has no NUL
	} {
		got, err := os.ReadFile(filepath.Join(to, "http", treeHost(s.Listener.Addr().String()), name))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}
