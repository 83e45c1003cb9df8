package download_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestOutdatedFile checks that -C - replaces an existing file without a recorded
// version if the object was modified after the file. It continues other files.
func TestOutdatedFile(t *testing.T) {
	for _, s := range []struct {
		name   string
		serve  func(t *testing.T) (url, root string)
		ranges bool // the server supports ranges
		dated  bool // the server reports the time of the object
	}{
		{"http", serveFolder(func(h http.Handler) http.Handler { return h }), true, true},
		{"http without Last-Modified", serveFolder(undated), true, false},
		{"http without ranges", serveFolder(unranged), false, true},
		{"file", func(t *testing.T) (string, string) {
			root := t.TempDir()
			return "file://" + root, root
		}, true, true},
		{"ftp", func(t *testing.T) (string, string) {
			p := peer.Vsftpd(t, peer.FTPOptions{})
			return "ftp://" + p.Addr, p.Root
		}, true, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "ftp" && testing.Short() {
				t.Skip("starts a server")
			}
			url, root := s.serve(t)
			for _, c := range outdatedCases {
				want := c.want
				switch {
				case !s.dated:
					want = c.undated
				case !s.ranges && want.content == mixture:
					want = outcome{0, longer, "complete object sent"}
				case !s.ranges && s.dated && c.name == "newer and shorter":
					want = outcome{0, "short", again}
				case !s.ranges && want.code == 8:
					want.code, want.note = 11, "the object has only 5"
				case s.name == "http" && c.name == "newer, same size":
					want = kept // the response with status 416 has no Last-Modified
				}
				for _, flags := range [][]string{{"-o", "object"}, {"-O"}, {"-R", "-O"}} {
					checkOutdated(t, c, flags, url, root, want)
				}
			}
		})
	}
}

const (
	local   = "version one"
	longer  = "VERSION TWO, and longer"
	mixture = "version one, and longer"
)

// An outcome is what a command must do with the existing file.
type outcome struct {
	code          int
	content, note string
}

type outdatedCase struct {
	name, object string
	age          time.Duration // time of the file minus that of the object
	want         outcome
	undated      outcome // without the time of the object
}

var (
	again         = "starting again from the beginning"
	continued     = outcome{0, mixture, "have no recorded version; if the object has changed, the result is a mixture"}
	kept          = outcome{0, local, "the file is an earlier version"}
	tooLong       = outcome{8, local, ""}
	outdatedCases = []outdatedCase{
		{"newer", longer, -time.Second, outcome{0, longer, again}, continued},
		{"older", longer, time.Second, continued, continued},
		{"equal", longer, 0, continued, continued},
		{"newer and shorter", "short", -time.Second, tooLong, tooLong},
		{"older and shorter", "short", time.Second, tooLong, tooLong},
		{"newer, same size", "VERSION TWO", -time.Second, outcome{0, "VERSION TWO", again}, kept},
		{"older, same size", "VERSION TWO", time.Second, kept, kept},
	}
)

// checkOutdated downloads an object to an existing file.
func checkOutdated(t *testing.T, c outdatedCase, flags []string, url, root string, want outcome) {
	t.Helper()
	dir, modified := t.TempDir(), time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)
	file := filepath.Join(dir, "object")
	for path, text := range map[string]string{file: local, filepath.Join(root, "object"): c.object} {
		at := modified
		if path == file {
			at = at.Add(c.age)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"-C", "-", "--output-dir", dir}, append(flags, url+"/object")...)
	var stderr bytes.Buffer
	code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
	if got := commandtest.Content(t, file); code != want.code || got != want.content || !strings.Contains(stderr.String(), want.note) {
		t.Errorf("%s, %s: exit code %d, content %q, want %d, %q and the note %q: %s", c.name, flags, code, got, want.code, want.content, want.note, &stderr)
	}
	if names := commandtest.FileNames(t, dir); names != "object" {
		t.Errorf("%s, %s: files %s", c.name, flags, names)
	}
}

// serveFolder returns a function that starts a web server for a new folder.
func serveFolder(wrap func(http.Handler) http.Handler) func(t *testing.T) (url, root string) {
	return func(t *testing.T) (string, string) {
		root := t.TempDir()
		s := httptest.NewServer(wrap(http.FileServer(http.Dir(root))))
		t.Cleanup(s.Close)
		return s.URL, root
	}
}

// undated removes the Last-Modified fields of responses.
func undated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(undatedWriter{w}, r) })
}

type undatedWriter struct{ http.ResponseWriter }

func (w undatedWriter) WriteHeader(code int) {
	w.Header().Del("Last-Modified")
	w.ResponseWriter.WriteHeader(code)
}

// unranged removes the Range fields of requests.
func unranged(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		h.ServeHTTP(w, r)
	})
}
