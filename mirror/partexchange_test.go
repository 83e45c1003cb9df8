package mirror_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// faultyImage is an image on a server that handles ranges wrongly. The function
// fault is called for each request with a range. It returns true if it has sent
// the response.
type faultyImage struct {
	*image
	fault func(i *image, out http.ResponseWriter, r *http.Request) bool
}

func (f faultyImage) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/moved" {
		out.Write(f.body)
		return
	}
	if f.fault != nil && r.Header.Get("Range") != "" && f.fault(f.image, out, r) {
		return
	}
	f.image.ServeHTTP(out, r)
}

// newPartImage returns an image that is just large enough to be resumed.
func newPartImage(text string) *image {
	i := newImageOf(text, 9<<20, 3<<20+12345)
	i.step = 1 << 20
	return i
}

// otherVersion makes the server ignore If-Range and send a part of another
// version of the image. The versions differ only in the first n bytes.
func otherVersion(n int, tag string) func(*image, http.ResponseWriter, *http.Request) bool {
	return func(i *image, out http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("If-Range")
		i.body, i.tag = append(bytes.Repeat([]byte("o"), n), i.body[n:]...), tag
		return false
	}
}

// TestPartExchange checks the records of a large body whose transfer was
// interrupted. A record must have the complete body of one version.
func TestPartExchange(t *testing.T) {
	if testing.Short() {
		t.Skip("transfers large bodies")
	}
	t.Parallel()
	for _, c := range []struct {
		name    string
		fault   func(i *image, out http.ResponseWriter, r *http.Request) bool
		between func(o *mirror.Options) // called between the two runs
		whole   int                     // number of requests from the first byte
		resumed int                     // number of resumptions in the metadata record
		field   string                  // further field of the response head
	}{
		{name: "resumed three times", whole: 1, resumed: 3},
		{
			name: "content coding and strong ETag", whole: 1, resumed: 3, field: "Content-Encoding: gzip\r\n",
		},
		{
			name: "server without ranges", whole: 2,
			fault: func(_ *image, _ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false },
		},
		{
			name: "HTTP/1.0 server without ranges", whole: 2,
			fault: func(i *image, out http.ResponseWriter, _ *http.Request) bool {
				conn, _, err := http.NewResponseController(out).Hijack()
				if err != nil {
					panic(err)
				}
				defer conn.Close()
				fmt.Fprintf(conn, "HTTP/1.0 200 OK\r\nETag: %s\r\nContent-Length: %d\r\n\r\n%s", i.tag, len(i.body), i.body)
				i.mu.Lock()
				i.offsets = append(i.offsets, 0)
				i.mu.Unlock()
				return true
			},
		},
		{name: "part of another version, other ETag", whole: 2, fault: otherVersion(1<<10, `"2"`)},
		{name: "part of another version, no ETag", whole: 3, fault: otherVersion(1<<10, "")},
		{name: "part of another version, same ETag", whole: 2, fault: otherVersion(9<<20, `"an-image"`)},
		{
			name: "grown object, same ETag", whole: 2,
			fault: func(i *image, _ http.ResponseWriter, _ *http.Request) bool {
				i.body = append(i.body, "more"...)
				return false
			},
		},
		{
			name: "416 for a shorter version", whole: 2,
			fault: func(i *image, _ http.ResponseWriter, r *http.Request) bool {
				r.Header.Del("If-Range")
				i.body, i.tag = bytes.Repeat([]byte("short"), 1<<20/5), `"short"`
				return false
			},
		},
		{
			name: "redirect", whole: 2,
			fault: func(_ *image, out http.ResponseWriter, r *http.Request) bool {
				http.Redirect(out, r, "/moved", http.StatusFound)
				return true
			},
		},
		{
			name: "started by a run without WARC files", whole: 2,
			between: func(o *mirror.Options) { o.WARC = &mirror.WARC{} },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, i := newNetwork(t), newPartImage("an-image")
				i.cuts, i.field = 3, c.field
				if c.fault != nil {
					i.cuts = 1
				}
				w.web("a.example", faultyImage{i, c.fault})
				o := w.options("http://a.example/image")
				if c.between != nil {
					o.WARC = nil
				}
				run(t, o)
				if c.between != nil {
					c.between(&o)
				}
				run(t, o)
				checkOneResponse(t, o.Dir, string(i.body), c.resumed, c.name == "redirect")
				whole := 0
				for _, first := range i.offsets {
					if first == 0 {
						whole++
					}
				}
				if whole != c.whole {
					t.Errorf("requests from bytes %d, want %d of them from the first byte", i.offsets, c.whole)
				}
				if left, err := os.ReadDir(filepath.Join(o.Dir, "tmp")); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left: %v, %v", left, err)
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// checkOneResponse checks that an archive has one response record with the
// status 200, that its block is a complete response with the body want, and
// that its request has no range.
func checkOneResponse(t *testing.T, dir, want string, resumed int, redirected bool) {
	t.Helper()
	heads, blocks := records(t, dir)
	n, metadata, date := 0, resumed, ""
	for k, h := range heads {
		if strings.HasSuffix(h.Target(), "/robots.txt") {
			continue
		}
		head, body, _ := strings.Cut(blocks[k], "\r\n\r\n")
		switch {
		case h.Type() == warc.Response && strings.HasPrefix(head, "HTTP/1.1 302") && redirected:
		case h.Type() == warc.Response:
			n, date = n+1, h.Get("WARC-Date")
			if !strings.HasPrefix(head, "HTTP/1.") || !strings.HasPrefix(head[8:], " 200 OK") || h.Get("WARC-Truncated") != "" ||
				!strings.Contains(head, fmt.Sprintf("Content-Length: %d", len(want))) {
				t.Errorf("response with the head %q", head)
			}
			if body != want {
				t.Errorf("body of %d bytes, want %d, or other bytes", len(body), len(want))
			}
		case h.Type() == warc.Request && strings.Contains(head, "Range:") && metadata > 0:
			t.Errorf("request %q", head)
		case h.Type() == warc.Metadata && !strings.Contains(blocks[k], "fault:"):
			if got := strings.Count(blocks[k], "resumed: "); got != resumed ||
				strings.Count(blocks[k], "received: Content-Range: bytes ") != resumed {
				t.Errorf("metadata of %d resumptions, want %d:\n%s", got, resumed, blocks[k])
			}
			if _, later, _ := strings.Cut(blocks[k], "resumed: "); later[:len(date)] <= date {
				t.Errorf("record of %s, resumed at %.30s", date, later)
			}
			resumed = 0
		}
	}
	if n != 1 || resumed != 0 {
		t.Errorf("%d response records; a metadata record of %d resumptions is missing", n, resumed)
	}
}

// TestPartSecrets checks that the description of a partial body contains no
// credentials.
func TestPartSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, i := newNetwork(t), newPartImage("an-image")
		i.cuts = 3
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if user, _, _ := r.BasicAuth(); user != "alice" && r.URL.Path != "/robots.txt" {
				out.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				out.WriteHeader(http.StatusUnauthorized)
				return
			}
			i.ServeHTTP(out, r)
		}))
		o := w.options("http://alice:a-secret@a.example/image")
		run(t, o)
		names, err := filepath.Glob(filepath.Join(o.Dir, "tmp", ".*.state"))
		if len(names) != 1 || err != nil {
			t.Fatal(names, err)
		}
		var state struct{ Note string }
		var note struct{ Request []byte }
		text, err := os.ReadFile(names[0])
		if err := errors.Join(err, json.Unmarshal(text, &state), json.Unmarshal([]byte(state.Note), &note)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(note.Request, []byte("Authorization: ***\r\n")) {
			t.Errorf("stored request %q", note.Request)
		}
		run(t, o)
		checkOneResponse(t, o.Dir, string(i.body), 3, false)
	})
}
