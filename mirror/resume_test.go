package mirror_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// image is a large file on a server that truncates the response as often as a
// test requires.
type image struct {
	body []byte
	tag  string
	cuts int
	cut  int // offset at which the first response is truncated
	step int // distance of further truncations
	code int // status code instead of the file; 0 means none

	field string // further header field, with its line end, or ""

	mu      sync.Mutex
	offsets []int // first byte of each request without If-None-Match
}

const imageSize, imageCut = 20 << 20, 12<<20 + 12345

func newImage(text string) *image { return newImageOf(text, imageSize, imageCut) }

func newImageOf(text string, size, cut int) *image {
	return &image{body: bytes.Repeat([]byte(text), size/len(text)), tag: `"` + text + `"`, cut: cut}
}

func (i *image) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/image" {
		http.NotFound(out, r)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var first int
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
	if r.Header.Get("If-None-Match") == "" {
		i.offsets = append(i.offsets, first)
	}
	if i.code != 0 {
		out.WriteHeader(i.code)
		return
	}
	if i.cuts > 0 {
		i.cuts--
		out = &shortWriter{ResponseWriter: out, left: i.cut - first}
		i.cut += i.step
	}
	if i.tag != "" {
		out.Header().Set("ETag", i.tag)
	}
	if name, value, ok := strings.Cut(strings.TrimSpace(i.field), ": "); ok {
		out.Header().Set(name, value)
		if first == 0 {
			out.Header().Set("Content-Length", strconv.Itoa(len(i.body))) // ServeContent omits the field
		}
	}
	http.ServeContent(out, r, "image", time.Time{}, bytes.NewReader(i.body))
}

// shortWriter ends a response early.
type shortWriter struct {
	http.ResponseWriter
	left int
}

func (s *shortWriter) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		s.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return s.ResponseWriter.Write(p)
}

// TestParts checks that the next visit and the next run request only the
// missing bytes of a large file, unless the file has changed.
func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("transfers large bodies")
	}
	t.Parallel()
	for _, c := range []struct {
		name string
		warc bool
		cuts int
		// change is called after the truncated response; again starts another
		// run.
		change func(i *image, o *mirror.Options, again func())
		asked  int
		whole  int // number of requests from the first byte
	}{
		{"next visit", false, 1, nil, 2, 1},
		{"later run", false, 3, func(i *image, o *mirror.Options, again func()) { again() }, 4, 1},
		{"changed file", false, 3, func(i *image, o *mirror.Options, again func()) {
			other := newImage("another-")
			i.body, i.tag = other.body, other.tag
			again()
		}, 4, 1},
		{"503 in the meantime", false, 3, func(i *image, o *mirror.Options, again func()) {
			i.code = 503
			again()
			i.code = 0
			again()
		}, 7, 1},
		{"run with other seeds in between", false, 3, func(i *image, o *mirror.Options, again func()) {
			all := o.Seeds
			o.Seeds = all[:1]
			again()
			o.Seeds = all
			again()
		}, 4, 1},
		{"404 in the meantime", false, 3, func(i *image, o *mirror.Options, again func()) {
			i.code = 404
			again()
			i.code = 0
			again()
		}, 5, 2},
		{"416 in the meantime, also without a range", false, 3, func(i *image, o *mirror.Options, again func()) {
			i.code = 416
			again()
			i.code = 0
			again()
		}, 6, 2},
		{"WARC, next visit", true, 1, nil, 2, 1},
		{"WARC, later run", true, 3, func(i *image, o *mirror.Options, again func()) { again() }, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, i := newNetwork(t), newImage("an-image")
				i.cuts = c.cuts
				w.web("a.example", i)
				o := w.options("http://a.example/none", "http://a.example/image")
				if !c.warc {
					o.WARC = nil
				}
				run(t, o)
				if c.change != nil {
					c.change(i, &o, func() { run(t, o) })
				}
				if files := tree(t, o.Dir, "http/a.example"); files["image"] != string(i.body) {
					t.Errorf("%d bytes of %d, or others", len(files["image"]), len(i.body))
				}
				whole := 0
				for _, first := range i.offsets {
					if first < 8<<20 {
						whole++
					}
				}
				if len(i.offsets) != c.asked || whole != c.whole {
					t.Errorf("requests from bytes %d, want %d, %d of them from the first byte", i.offsets, c.asked, c.whole)
				}
				if left, err := os.ReadDir(filepath.Join(o.Dir, "tmp")); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left: %v, %v", left, err)
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// startLarge starts nginx with a limit of bytes per second for each response.
// The function ranges returns the number of responses with the status 206.
func startLarge(t testing.TB, rate string) (s *peer.Server, ranges func() int) {
	t.Helper()
	s = peer.Nginx(t, peer.NginxOptions{Rate: rate, Server: "access_log access.log;"})
	return s, func() int {
		log, err := os.ReadFile(filepath.Join(s.Dir, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(log, []byte(`" 206 `))
	}
}

// TestPartKilled checks that a run resumes a large file after the process was
// killed. The WARC record of an http response must contain the complete file.
func TestPartKilled(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("0123456789abcdef"), imageSize/16)
	for _, scheme := range []string{"ftp", "http"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			var s *peer.Server
			var ranges func() int
			var url string
			if scheme == "ftp" {
				s = peer.Vsftpd(t, peer.FTPOptions{Rate: 12 << 10})
				url = "ftp://" + s.Addr + "/pub/"
				ranges = func() int {
					log, err := os.ReadFile(filepath.Join(s.Dir, "vsftpd.log"))
					if err != nil {
						t.Fatal(err)
					}
					return bytes.Count(log, []byte(`"REST `)) // the driver sends no REST 0
				}
			} else {
				s, ranges = startLarge(t, "12m")
				url = "http://" + s.Addr + "/pub/large.bin"
			}
			s.Put("pub/large.bin", body)
			o := childTask{Dir: t.TempDir(), URLs: []string{url}, Tree: true, WARC: true}
			o.killAtPart(t)
			o.finish(t)
			for name, got := range tree(t, o.Dir, "") {
				if strings.HasSuffix(name, "large.bin") && got != string(body) {
					t.Errorf("%s has %d bytes, want %d", name, len(got), len(body))
				}
			}
			if ranges() == 0 {
				t.Error("no request for the missing bytes")
			}
			if scheme == "http" {
				checkOneResponse(t, o.Dir, string(body), 1, false)
				for _, e := range events(t, o.Dir) {
					if strings.HasSuffix(e.URL, ".bin") && (e.Code != 200 || e.Size != imageSize) {
						t.Errorf("visit %+v", e)
					}
				}
			}
			checkVerify(t, o.Dir)
		})
	}
}

// killAtPart runs o and kills the process when it has stored the state of a
// partial file.
func (o childTask) killAtPart(t *testing.T) {
	t.Helper()
	c := o.start(t)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range look.C {
		if states, err := filepath.Glob(filepath.Join(o.Dir, "tmp", ".*.state")); len(states) > 0 || err != nil {
			break
		}
	}
	c.Process.Kill()
	if c.Wait() == nil {
		t.Fatal("the process was not killed")
	}
}
