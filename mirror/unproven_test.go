package mirror_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/mirror"
)

// TestForgedObject repeats a run after another program has replaced the archived
// copy of a page. The server confirms that the page is unchanged. The links in the
// copy must not lead to another private server, but those in the page may.
func TestForgedObject(t *testing.T) {
	t.Parallel()
	const page, forged = "<a href=http://10.0.0.6/x>page  </a>", "<a href=http://10.0.0.7/x>forged</a>"
	const twice = "http://intra.example/ http://intra.example/"
	for _, c := range []struct{ name, address, copy, requests string }{
		{"forged copy", "10.0.0.5", forged, "http://10.0.0.6/x " + twice},
		{"intact copy", "10.0.0.5", page, "http://10.0.0.6/x " + twice},
		{"copy without links", "10.0.0.5", strings.Repeat("x", len(page)), "http://intra.example/"},
		{"public link", "8.8.8.8", strings.Replace(forged, "10.0.0.7", "8.8.8.10", 1), "http://8.8.8.10/x http://intra.example/"},
		{"public server", "8.8.8.8", forged, "http://intra.example/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("intra.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					out.Header().Set("Content-Type", "text/html")
					out.Header().Set("Last-Modified", time.Now().Add(-240*time.Hour).UTC().Format(http.TimeFormat))
					switch {
					case r.URL.Path != "/":
						http.NotFound(out, r)
					case r.Header.Get("If-Modified-Since") != "":
						out.WriteHeader(http.StatusNotModified)
					default:
						out.Write([]byte(page))
					}
				}), c.address)
				for _, host := range []string{"10.0.0.6", "10.0.0.7", "8.8.8.10"} {
					w.web(host, webSite{"/x": "x"}, host)
				}
				o := w.options("http://intra.example/")
				o.Tree, o.WARC, o.Scope.Reach = true, nil, mirror.Any
				run(t, o)
				w.requests()
				if err := os.WriteFile(filepath.Join(o.Dir, "tree/http/intra.example/index.html"), []byte(c.copy), 0o666); err != nil {
					t.Fatal(err)
				}
				run(t, o)
				if got := w.requests(); got != c.requests {
					t.Errorf("requests %s, want %s", got, c.requests)
				}
			})
		})
	}
}

// TestResumedLinks resumes the download of a page of a private server. The run must
// not fail, and the next one visits the links to other private servers.
func TestResumedLinks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := "<a href=http://10.0.0.6/x>x</a>" + strings.Repeat(" ", 9<<20)
		w := newNetwork(t)
		cut := true
		w.web("intra.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(out, r)
				return
			}
			out.Header().Set("Content-Type", "text/html")
			out.Header().Set("ETag", `"1"`)
			if cut {
				cut = false
				out.Header().Set("Content-Length", strconv.Itoa(len(page)))
				io.WriteString(out, page[:len(page)/2])
				panic(http.ErrAbortHandler)
			}
			http.ServeContent(out, r, "", time.Time{}, strings.NewReader(page))
		}), "10.0.0.5")
		w.web("10.0.0.6", webSite{"/x": "x"}, "10.0.0.6")
		o := w.options("http://intra.example/")
		o.Tree, o.WARC, o.Scope.Reach = true, nil, mirror.Any
		for _, want := range []string{
			"http://intra.example/ http://intra.example/",
			"http://10.0.0.6/x http://intra.example/ http://intra.example/",
		} {
			run(t, o)
			if got := w.requests(); got != want {
				t.Errorf("requests %s, want %s\n%s", got, want, outcomes(t, o.Dir))
			}
		}
	})
}
