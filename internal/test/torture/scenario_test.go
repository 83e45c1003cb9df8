package torture

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/testdir"
	"github.com/anyurl/fetch/save"
	webscheme "github.com/anyurl/fetch/schemes/http"
)

// object is the content of every URL. All its parts differ.
var object = body(100_000)

// segments makes wrap.Segments fetch object in three segments.
const segments = 384

func body(n int64) string {
	text, _ := io.ReadAll(faultnet.Body(n))
	return string(text)
}

// zipped returns object in gzip format.
var zipped = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, object)
	z.Close()
	return b.Bytes()
})

// Secrets of the caller. No error, note or file may contain them, and only
// example.com may receive them.
const (
	secret  = "s3cret"
	userURL = "alice:" + secret + "@example.com"
)

// A scenario is a transfer to a file with a known result.
type scenario struct {
	name string
	url  string

	tls, http2 bool
	http       webscheme.Options

	proxy     string // URL of the proxy, or empty
	segmented bool

	before  string // content of the file before the transfer; empty if there is no file
	part    string // content of the partial file before the transfer; empty if there is none
	version string // validator of the partial file; empty means "v1"
	save    save.Options

	// endsIn is the class of the error of a transfer without a failure. Zero
	// means no error.
	endsIn fetch.Fault
	// resumes reports whether an interrupted transfer can be resumed, so that a
	// second attempt always succeeds.
	resumes bool
	// tries is the number of connections of one attempt. Zero means 1.
	tries int
	// retried reports whether the first attempt always fails.
	retried bool
}

var scenarios = []scenario{
	{name: "length", url: "http://" + userURL + "/length", resumes: true},
	{name: "length, replacing", url: "http://example.com/length", before: "old", resumes: true},
	{name: "length, not replacing", url: "http://example.com/length", save: save.Options{Existing: save.Refuse}, resumes: true},
	{name: "chunked", url: "http://example.com/chunked"},
	{name: "to the end of the connection", url: "http://example.com/close"},
	{name: "gzip", url: "http://example.com/gzip", http: webscheme.Options{Compressed: true}},
	{name: "redirect", url: "http://" + userURL + "/moved", resumes: true},
	{name: "redirect to another host", url: "http://" + userURL + "/away", resumes: true},
	{name: "login", url: "http://" + userURL + "/login", resumes: true},
	{name: "busy at first", url: "http://example.com/busy", retried: true, resumes: true},
	{name: "not found", url: "http://" + userURL + "/missing", before: "old", endsIn: fetch.NotFound},
	{name: "redirect loop", url: "http://example.com/loop", before: "old", endsIn: fetch.Loop},

	{name: "resumable", url: "http://" + userURL + "/length", save: save.Options{Resume: true}, resumes: true},
	{name: "part", url: "http://example.com/length", before: "old", part: object[:40_000], save: save.Options{Resume: true}, resumes: true},
	{name: "part of another version", url: "http://example.com/changed", part: object[:40_000], save: save.Options{Resume: true}, resumes: true},
	{name: "complete part", url: "http://example.com/length", part: object, save: save.Options{Resume: true}, resumes: true},
	{name: "file of unknown version", url: "http://example.com/length", before: object[:40_000], save: save.Options{Resume: true, Existing: save.Continue}, resumes: true},

	{name: "tls", url: "https://" + userURL + "/length", tls: true, resumes: true},
	{name: "tls, to the end of the connection", url: "https://example.com/close", tls: true},
	{name: "http/2", url: "https://" + userURL + "/length", tls: true, http2: true, resumes: true},
	{name: "http/2, part", url: "https://example.com/length", tls: true, http2: true, part: object[:40_000],
		save: save.Options{Resume: true}, resumes: true},

	{name: "proxy", url: "http://" + userURL + "/length", proxy: httpProxy, resumes: true},
	{name: "proxy, tls", url: "https://" + userURL + "/length", tls: true, proxy: httpProxy, resumes: true},
	{name: "socks", url: "http://" + userURL + "/length", proxy: socksProxy, resumes: true},
	{name: "segments", url: "http://" + userURL + "/length", segmented: true, tries: 3, resumes: true},
	{name: "segments, http/2", url: "https://" + userURL + "/length", tls: true, http2: true, segmented: true, tries: 3, resumes: true},

	{name: "ftp", url: "ftp://" + userURL + "/file", tries: 2, resumes: true},
	{name: "ftp, part", url: "ftp://example.com/file", before: "old", part: object[:40_000], version: ftpVersion,
		save: save.Options{Resume: true}, tries: 2, resumes: true},
	{name: "gopher", url: "gopher://example.com/9/file"},
	{name: "gopher, text", url: "gopher://example.com/0/text"},
	{name: "nntp", url: "nntp://example.com/local.test/2"},

	{name: "file", url: "file://FOLDER/source"},
	{name: "file, part", url: "file://FOLDER/source", before: object[:40_000], save: save.Options{Resume: true, Existing: save.Continue}},
}

// serve starts the servers of s and returns options for a client.
func (s *scenario) serve(w *world) (client fetch.Options) {
	port := ":80"
	if s.tls {
		port = ":443"
	}
	home := &httptest.Server{EnableHTTP2: s.http2, Config: &http.Server{
		Handler: w.countRequests(w.withoutHeaders(site(), "Proxy-Authorization")),
	}}
	w.serve("8.8.8.8"+port, home, s.tls)
	other := &httptest.Server{Config: &http.Server{
		Handler: w.countRequests(w.withoutHeaders(site(), "Authorization", "X-Api-Key", "Cookie", "Proxy-Authorization")),
	}}
	w.serve("8.8.4.4:80", other, false)
	w.serveProxies()
	client.Proxy = s.proxyFunc()
	w.serveConns("8.8.8.8:21", w.ftp)
	w.serveConns("8.8.8.8:70", w.gopher)
	w.serveConns("8.8.8.8:119", w.nntp)
	if s.tls {
		client.TLS = home.Client().Transport.(*http.Transport).TLSClientConfig
	}
	return client
}

// countRequests returns a handler that counts the requests to h.
func (w *world) countRequests(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.countRequest(fmt.Sprintf("%s %s, range %q", r.Method, r.URL, r.Header.Get("Range")))
		h.ServeHTTP(rw, r)
	})
}

// withoutHeaders returns a handler that records requests with one of the given
// header fields as leaks.
func (w *world) withoutHeaders(h http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for _, name := range names {
			if v := r.Header.Get(name); v != "" {
				w.mu.Lock()
				w.leaks = append(w.leaks, name+": "+v)
				w.mu.Unlock()
			}
		}
		h.ServeHTTP(rw, r)
	})
}

// site returns a handler with object at several paths.
func site() http.Handler {
	mux := http.NewServeMux()
	serveObject := func(tag string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", tag)
			w.Header().Set("Content-Type", "text/plain")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(object))
		}
	}
	mux.HandleFunc("/length", serveObject(`"v1"`))
	mux.HandleFunc("/changed", serveObject(`"v2"`))
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		for i := 0; i < len(object); i += 30_000 {
			io.WriteString(w, object[i:min(i+30_000, len(object))])
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/close", func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n"+object)
	})
	mux.HandleFunc("/stall", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(zipped())
	})
	mux.Handle("/moved", http.RedirectHandler("/length", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler("http://other.example/length", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "alice" || password != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		serveObject(`"v1"`)(w, r)
	})
	busy := true
	mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) {
		if busy {
			busy = false
			w.Header().Set("Retry-After", strconv.Itoa(int(busyTime/time.Second)))
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		serveObject(`"v1"`)(w, r)
	})
	return mux
}

// busyTime is the Retry-After time of /busy.
const busyTime = 7 * time.Second

// prepare creates a folder with the files of s. It returns the path of the
// output file and the URL.
func (s *scenario) prepare(t *testing.T) (out, url string) {
	t.Helper()
	dir := folder(t)
	url = strings.ReplaceAll(s.url, "FOLDER", dir)
	if url != s.url {
		writeFile(t, filepath.Join(dir, "source"), object)
	}
	dir = filepath.Join(dir, "to")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(dir, "out")
	if s.before != "" {
		writeFile(t, out, s.before)
	}
	if s.part != "" {
		f, err := save.Create(out, save.Options{Resume: true, URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Begin(save.State{Validator: cmp.Or(s.version, `"v1"`), Size: int64(len(object))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, s.part); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out, url
}

// folder returns a new folder in memory, if possible, because a sweep syncs
// thousands of files.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := testdir.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// writeFile writes text to the file at path.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
