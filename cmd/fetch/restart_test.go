package main

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
)

// TestBeginAnew: what cannot be resumed begins anew as often, as late and as
// long as --retry and --max-time say, which count all attempts together.
func TestBeginAnew(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
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
		asked       int32
		code        int
		says        string
	}{
		{"--retry 0", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 2 --retry-delay 0.01", "/breaks", 3, 11, "from the beginning in 0s"},
		{"--retry -1", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 5 --retry-delay 60 --retry-max-time 30", "/breaks", 1, 11, "unexpected EOF"},
		{"--retry 5 --retry-delay 60 --max-time 1", "/breaks", 1, 11, "from the beginning in 1m0s"},
		{"--retry 5 --max-time 1", "/stalls", 1, 4, "took longer than 1s"},
	} {
		asked.Store(0)
		var said bytes.Buffer
		file := filepath.Join(t.TempDir(), "file")
		args := append(strings.Fields(c.flags), "-q", "-o", file, s.URL+c.path)
		code := run(args, strings.NewReader(""), &bytes.Buffer{}, &said)
		if n := asked.Load(); code != c.code || n != c.asked || !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: exit %d after %d requests, want %d, %d; %s", c.flags, code, n, c.code, c.asked, &said)
		}
	}
}

// TestRestartFromBeginning: bytes whose version nothing proves are requested
// again, and a range stays the range of the flag.
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
	for _, c := range []struct{ flags, asked, want string }{
		{"", "|", strings.Repeat("b", 40)},
		{"-r 10-29", "bytes=10-29|bytes=10-29", strings.Repeat("b", 20)},
	} {
		ranges = nil
		file := filepath.Join(t.TempDir(), "file")
		args := append(strings.Fields(c.flags), "-q", "--retry-delay", "0.01", "-o", file, s.URL)
		var said bytes.Buffer
		code := run(args, strings.NewReader(""), &bytes.Buffer{}, &said)
		got, _ := os.ReadFile(file)
		if asked := strings.Join(ranges, "|"); code != 0 || asked != c.asked || string(got) != c.want {
			t.Errorf("%q: exit %d, requests for %q, %q in the file, want %q, %q: %s", c.flags, code, asked, got, c.asked, c.want, &said)
		}
	}
}
