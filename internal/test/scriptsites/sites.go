// Package scriptsites contains sites whose pages are built by scripts. Some pages
// use JavaScript libraries, and others check single features of browsers. Tests
// capture and replay them. The title of each page becomes "passed", or the reason
// of the failure. Only tests may import this package.
package scriptsites

import (
	"crypto/tls"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A Site is a page that checks itself.
type Site struct {
	Name, URL string
	Library   bool // the page tests a library
	// NeedsOriginalURL is true if the page works only if the browser shows the
	// original URL as its address.
	NeedsOriginalURL bool
}

// Sites are all sites. Their names end in ".test", which is reserved for tests (RFC
// 6761).
var Sites = []Site{
	{Name: "swagger-ui", URL: "https://swagger.test/", Library: true},
	{Name: "React Router", URL: "https://react.test/", Library: true},
	{Name: "React Router with loaders", URL: "https://data.test/items/3", Library: true},
	{Name: "Vue Router", URL: "https://vue.test/", Library: true},
	{Name: "Leaflet", URL: "https://map.test/", Library: true},
	{Name: "monaco-editor", URL: "https://editor.test/", Library: true},
	{Name: "reveal.js", URL: "https://slides.test/", Library: true},
	{Name: "modules", URL: "https://site.test/modules"},
	{Name: "requests", URL: "https://site.test/requests"},
	{Name: "elements", URL: "https://site.test/elements"},
	{Name: "POST", URL: "https://site.test/post"},
	{Name: "storage", URL: "https://site.test/storage"},
	{Name: "address", URL: "https://site.test/address?x=1"},
	{Name: "frames", URL: "https://site.test/frames"},
	{Name: "workers", URL: "https://site.test/workers"},
	{Name: "navigation", URL: "https://site.test/navigation"},
	{Name: "hostname", URL: "https://site.test/hostname", NeedsOriginalURL: true},
	{Name: "messages", URL: "https://site.test/messages", NeedsOriginalURL: true},
	{Name: "service worker", URL: "https://site.test/service", NeedsOriginalURL: true},
}

// Landing is the page that the site "navigation" opens.
const Landing = "https://other.test/landing"

// modified is the date of all files.
var modified = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// An object is a file of a site.
type object struct{ media, body string }

// A Server answers the requests for all sites. It is a http.Handler for requests
// whose Host names a site, over TLS or not.
type Server struct{ files map[string]object }

// New returns a Server with all sites. It bundles the libraries, which takes
// seconds. If the npm packages are missing, the test is skipped.
func New(t *testing.T) *Server {
	t.Helper()
	node, esbuild := peer.NeedModule(t, "sites@1", "esbuild", "bin/esbuild")
	packages := filepath.Dir(filepath.Dir(filepath.Dir(esbuild)))
	s := &Server{files: map[string]object{}}
	for _, files := range []map[string]object{checkFiles, libraryFiles} {
		for url, o := range files {
			s.files[url] = o
		}
	}
	for _, name := range []string{"swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css"} {
		s.add(t, "https://swagger.test/"+name, filepath.Join(packages, "swagger-ui-dist", name))
	}
	for x := range 4 {
		for y := range 4 {
			for _, host := range []string{"a", "b"} {
				s.files[fmt.Sprintf("https://%s.tile.test/2/%d/%d.gif", host, x, y)] = object{"image/gif", pixel}
			}
		}
	}
	for _, b := range bundles {
		s.bundle(t, node, esbuild, packages, b)
	}
	return s
}

// bundle bundles the modules of a site and adds its files.
func (s *Server) bundle(t *testing.T, node, esbuild, packages string, b bundle) {
	t.Helper()
	source, out := t.TempDir(), t.TempDir()
	for name, text := range libraryModules {
		write(t, filepath.Join(source, name), text)
	}
	write(t, filepath.Join(source, "main.js"), b.source)
	run := func(args ...string) {
		cmd := exec.Command(node, append([]string{esbuild, "--bundle", "--log-level=error", "--minify", "--outdir=" + out,
			`--define:process.env.NODE_ENV="production"`, "--define:__VUE_OPTIONS_API__=false", "--define:__VUE_PROD_DEVTOOLS__=false",
			"--define:__VUE_PROD_HYDRATION_MISMATCH_DETAILS__=false", "--loader:.png=file", "--loader:.ttf=file"}, args...)...)
		cmd.Env = append(os.Environ(), "NODE_PATH="+packages)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("esbuild: %s: %v: %s", b.origin, err, output)
		}
	}
	run("--format=esm", "--splitting", "--public-path=/", filepath.Join(source, "main.js"))
	for _, w := range b.workers {
		run("--format=iife", filepath.Join(packages, w))
	}
	sheet := ""
	err := fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			s.add(t, b.origin+"/"+path.Base(name), filepath.Join(out, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.files[b.origin+"/main.css"]; ok {
		sheet = `<link rel="stylesheet" href="/main.css">`
	}
	for _, p := range append([]string{"/"}, b.paths...) {
		s.files[b.origin+p] = object{"text/html; charset=utf-8", `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>running</title>` + sheet +
			`</head><body>` + b.markup + `<script type="module" src="/main.js"></script></body></html>`}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// add adds a file to a site.
func (s *Server) add(t *testing.T, url, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	media := mime.TypeByExtension(filepath.Ext(name))
	if media == "" {
		media = "application/octet-stream"
	}
	s.files[url] = object{media, string(text)}
}

// Start serves the sites over TLS until the end of the test. It returns the address
// of the server, and the file with its certificate.
func (s *Server) Start(t *testing.T) (address, certificate string) {
	t.Helper()
	var hosts []string
	for url := range s.files {
		host, _, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	cert := peer.NewCert(t, peer.CertOptions{Hosts: slices.Compact(hosts)})
	server := httptest.NewUnstartedServer(s)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert.TLS}}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), cert.File
}

// ServeHTTP answers a request for a file. Pages of all sites may read the
// answers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT")
	}
	host, _, _ := strings.Cut(r.Host, ":")
	url := "https://" + host + r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions && strings.HasSuffix(r.URL.Path, "/api") {
		body, _ := io.ReadAll(r.Body)
		h.Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s", r.Method, body)
		return
	}
	o, ok := s.files[url]
	if !ok && strings.Contains(url, "?") { // any values of parameters
		o, ok = s.similar(r, url)
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	h.Set("Content-Type", o.media)
	http.ServeContent(w, r, "", modified, strings.NewReader(o.body))
}

// similar returns the file with the path and the identifier of url.
func (s *Server) similar(r *http.Request, url string) (object, bool) {
	base, _, _ := strings.Cut(url, "?")
	for known, o := range s.files {
		if path, query, _ := strings.Cut(known, "?"); path == base && strings.Contains("&"+query+"&", "&id="+r.URL.Query().Get("id")+"&") == r.URL.Query().Has("id") {
			return o, true
		}
	}
	return object{}, false
}
