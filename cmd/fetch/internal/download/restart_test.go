package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestRestartLimits checks that downloads which cannot be resumed are restarted
// within the limits of --retry and --max-time. The limits count all attempts.
func TestRestartLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for limits of time")
	}
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("a beginning"))
		w.(http.Flusher).Flush()
		if r.URL.Path == "/stalls" {
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		flags, path string
		requests    int32
		code        int
		message     string
	}{
		{"--retry 0", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 2 --retry-delay 0.01", "/breaks", 3, 11, "attempt 2 in 0s"},
		{"--retry -1", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 5 --retry-delay 60 --retry-max-time 30", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 5 --retry-delay 60 --max-time 1", "/breaks", 1, 11, "attempt 2 in 1m0s"},
		{"--retry 5 --max-time 1", "/stalls", 1, 4, "took longer than 1s"},
	} {
		requests.Store(0)
		var stderr bytes.Buffer
		file := filepath.Join(t.TempDir(), "file")
		args := append(strings.Fields(c.flags), "-q", "-o", file, s.URL+c.path)
		code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if n := requests.Load(); code != c.code || n != c.requests || !strings.Contains(stderr.String(), c.message) {
			t.Errorf("%s: exit code %d after %d requests, want %d after %d: %s", c.flags, code, n, c.code, c.requests,
				&stderr)
		}
	}
}

// TestPartialFileNote checks the files and the message after an interruption.
func TestPartialFileNote(t *testing.T) {
	for _, c := range []struct{ name, flags, etag, files, note string }{
		{"resumable", "-C -", `"v1"`, ".file.part .file.part.state", "5 bytes are saved"},
		{"no validator", "-C -", "", "", "the partial file is removed (5 bytes): without a strong ETag"},
		{"weak validator", "-C -", `W/"v1"`, "", "the partial file is removed (5 bytes): without a strong ETag"},
		{"parallel", "-C - -Z", `"v1"`, ".file.part .file.part.state", "/file are saved"},
		{"parallel, no validator", "-C - -Z", "", "", "/file is removed (5 bytes): without a strong ETag"},
		{"no -C", "", `"v1"`, "", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "40")
			w.Header().Set("ETag", c.etag)
			w.Write([]byte("12345"))
		}))
		dir := t.TempDir()
		args := append(strings.Fields(c.flags), "--retry", "0", "-o", filepath.Join(dir, "file"), s.URL)
		var stderr bytes.Buffer
		code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		s.Close()
		entries, _ := os.ReadDir(dir)
		var files []string
		for _, e := range entries {
			files = append(files, e.Name())
		}
		if got := strings.Join(files, " "); code != 11 || got != c.files || !strings.Contains(stderr.String(), c.note) {
			t.Errorf("%s: exit code %d, files %q, want %q and %q: %s", c.name, code, got, c.files, c.note, &stderr)
		}
		if c.note == "" && strings.Contains(stderr.String(), "partial") {
			t.Errorf("%s: unexpected note: %s", c.name, &stderr)
		}
	}
}

// TestRestartFromBeginning checks that a partial file without a validator is
// fetched again, and that a restart requests the range of --range again.
func TestRestartFromBeginning(t *testing.T) {
	var ranges []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		text := strings.Repeat(string(rune('a'+len(ranges)-1)), 40)
		if first, end := 0, len(text); r.Header.Get("Range") != "" {
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &end)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/40", first, min(end, 39)))
			text = text[first:min(end+1, 40)]
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			w.WriteHeader(http.StatusPartialContent)
		} else {
			w.Header().Set("Content-Length", "40")
		}
		if len(ranges) == 1 {
			text = text[:5]
		}
		w.Write([]byte(text))
	}))
	defer s.Close()
	for _, c := range []struct{ flags, requests, want string }{
		{"", "|", strings.Repeat("b", 40)},
		{"-r 10-29", "bytes=10-29|bytes=10-29", strings.Repeat("b", 20)},
	} {
		ranges = nil
		file := filepath.Join(t.TempDir(), "file")
		args := append(strings.Fields(c.flags), "-q", "--retry-delay", "0.01", "-o", file, s.URL)
		var stderr bytes.Buffer
		code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		got, _ := os.ReadFile(file)
		if requests := strings.Join(ranges, "|"); code != 0 || requests != c.requests || string(got) != c.want {
			t.Errorf("%q: exit code %d, ranges %q, contents %q, want %q, %q: %s", c.flags, code, requests, got,
				c.requests, c.want, &stderr)
		}
	}
}
