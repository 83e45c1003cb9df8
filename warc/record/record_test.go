package record_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/data"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/warc/record"
	"github.com/anyurl/fetch/wrap"
)

// serve responds to the requests of the tests.
func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/moved":
		http.Redirect(w, r, "/page", http.StatusFound)
	case "/page":
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, "page")
	case "/trailer":
		w.Header().Set("Trailer", "Sum")
		io.WriteString(w, "page")
		w.Header().Set("Sum", "4")
	case "/large":
		w.Write(make([]byte, 200<<10))
	case "/cut":
		w.Header().Set("Content-Length", "9")
		io.WriteString(w, "page")
	default:
		http.NotFound(w, r)
	}
}

// open returns a Client that records its requests, and the directory of the
// WARC file. The middlewares in more follow the Recorder.
func open(t *testing.T, more ...fetch.Middleware) (*fetch.Client, *record.Recorder, *warc.Writer, *os.Root) {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	w, err := warc.NewWriter(dir, warc.Options{Name: "a.warc"})
	if err != nil {
		t.Fatal(err)
	}
	r := record.New(w, record.Options{TempDir: dir.Name()})
	options := fetch.Options{Policy: fetch.Typed(), Wrap: append([]fetch.Middleware{r.Middleware}, more...)}
	client := fetch.New(options, append(fetchhttp.Schemes(fetchhttp.Options{}), data.Schemes()...)...)
	t.Cleanup(func() { client.Close() })
	return client, r, w, dir
}

// types returns the types of the records in a WARC file, without the warcinfo
// record. A truncated record is marked with the reason.
func types(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []string
	in := warc.NewReader(f)
	for {
		h, err := in.Next()
		if err == io.EOF {
			return strings.Join(all[1:], " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		name := string(h.Type())
		if reason := h.Get("WARC-Truncated"); reason != "" {
			name += "(" + reason + ")"
		}
		all = append(all, name)
	}
}

// TestRecorder checks which records a request has.
func TestRecorder(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	for name, c := range map[string]struct {
		url  string
		req  fetch.Request
		part bool // if true, the test closes the body after the first byte
		want string
	}{
		"complete":             {url: s.URL + "/page", want: "response request"},
		"temporary file":       {url: s.URL + "/large", want: "response request"},
		"trailer fields":       {url: s.URL + "/trailer", want: "response request metadata"},
		"chain of redirects":   {url: s.URL + "/moved", want: "response request response request"},
		"unchanged":            {url: s.URL + "/page", req: fetch.Request{IfNot: `"1"`}, want: "response request"},
		"error without body":   {url: s.URL + "/none", want: "response request"},
		"cut by the server":    {url: s.URL + "/cut", want: "response(disconnect) request"},
		"closed by the caller": {url: s.URL + "/large", part: true, want: "response(unspecified) request"},
		"no connection":        {url: dead.URL, want: "metadata"},
		"denied":               {url: "http://127.0.0.1:25/"},
		"metadata only":        {url: s.URL + "/page", req: fetch.Request{Op: fetch.Stat}},
		"other scheme":         {url: "data:,page", want: "resource metadata"},
		"other scheme, range":  {url: "data:,page", req: fetch.Request{Range: fetch.Range{First: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			client, r, w, dir := open(t)
			c.req.URL = uri.MustParse(c.url)
			if resp, err := client.Do(t.Context(), &c.req); err == nil {
				if c.part {
					resp.Body.Read(make([]byte, 1))
				} else {
					io.Copy(io.Discard, resp.Body)
				}
				resp.Body.Close()
			}
			if err := errors.Join(r.Err(), w.Close()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir.Name(), "a.warc")
			if got := types(t, file); got != c.want {
				t.Errorf("records: %q, want %q", got, c.want)
			}
			if c.want == "" {
				return
			}
			for f, err := range warc.Verify(file) {
				t.Errorf("%v, %v", f, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir.Name(), ".*")); len(left) > 0 {
				t.Errorf("temporary files: %q", left)
			}
		})
	}
}

// TestRecorderRetry checks that a Recorder before the middleware for retries
// records only the last attempt, and that no body is resumed.
func TestRecorderRetry(t *testing.T) {
	for name, c := range map[string]struct {
		responses []func(w http.ResponseWriter)
		body      string
		want      string
	}{
		"busy server": {
			[]func(http.ResponseWriter){
				func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
				func(w http.ResponseWriter) { io.WriteString(w, "page") },
			},
			"page", "response request",
		},
		"interrupted body": {
			[]func(http.ResponseWriter){
				func(w http.ResponseWriter) {
					w.Header().Set("ETag", `"1"`)
					w.Header().Set("Content-Length", "9")
					io.WriteString(w, "pa")
				},
			},
			"pa", "response(disconnect) request",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.responses[n.Add(1)-1](w) }))
			defer s.Close()
			client, r, w, dir := open(t, wrap.Retry(wrap.RetryOptions{Delay: time.Millisecond}))
			resp, err := client.Get(t.Context(), s.URL)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := io.ReadAll(resp.Body); string(text) != c.body {
				t.Errorf("body: %q, want %q", text, c.body)
			}
			if err := errors.Join(resp.Body.Close(), r.Err(), w.Close()); err != nil {
				t.Fatal(err)
			}
			if got := types(t, filepath.Join(dir.Name(), "a.warc")); got != c.want {
				t.Errorf("records: %q, want %q", got, c.want)
			}
		})
	}
}

// TestRecorderConcurrent checks that a Recorder writes the records of concurrent
// requests.
func TestRecorderConcurrent(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	client, r, w, dir := open(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if resp, err := client.Get(t.Context(), s.URL+"/page"); err != nil {
				t.Error(err)
			} else {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	all.Wait()
	if err := errors.Join(r.Err(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := types(t, filepath.Join(dir.Name(), "a.warc")); got != strings.TrimSpace(strings.Repeat("response request ", 8)) {
		t.Errorf("records: %q", got)
	}
}

// TestRecorderError checks that the caller gets the error of a WARC file that
// cannot be written.
func TestRecorderError(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(serve))
	defer s.Close()
	client, r, _, dir := open(t)
	dir.Close()
	for range 2 {
		resp, err := client.Get(t.Context(), s.URL+"/page")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, fetch.Local) || r.Err() == nil {
			t.Errorf("%v, %v", err, r.Err())
		}
		resp.Body.Close()
	}
}
