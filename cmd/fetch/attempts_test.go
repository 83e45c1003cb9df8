package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAttempts: notes, errors, records and variables tell the true number of
// attempts, and how many there are at most.
func TestAttempts(t *testing.T) {
	var asked atomic.Int32
	wrong := "" // what becomes of each request: b a 503, c a body that is cut
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		how := wrong[min(int(asked.Add(1)), len(wrong))-1]
		if how == 'b' {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("a beginning"))
	}))
	defer s.Close()
	number := regexp.MustCompile(`attempt \d+ of \d+|from the beginning in`)
	for _, c := range []struct {
		name, url, wrong, notes string
		attempts                string
		retry                   string
	}{
		{"refused", "http://" + closedPort(t) + "/", "", "attempt 2 of 2", "2", "3"},
		{"refused, ftp", "ftp://" + closedPort(t) + "/x", "", "attempt 2 of 2", "2", "3"},
		{"busy", s.URL, "b", "attempt 2 of 4, attempt 3 of 4, attempt 4 of 4", "4", "3"},
		{"no retries", s.URL, "b", "", "1", "0"},
		{"cut", s.URL, "c", "from the beginning in, from the beginning in", "3", "2"},
		{"busy, cut, busy", s.URL, "bcb", "attempt 2 of 3, from the beginning in, attempt 4 of 5, attempt 5 of 5", "5", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, flag := range []string{"", "--error-json"} {
				asked.Store(0)
				wrong = c.wrong
				dir := t.TempDir()
				var out, said bytes.Buffer
				args := []string{"--no-config", "--retry", c.retry, "--retry-delay", "0.001", "-w", "%{num_retries}", "--meta", filepath.Join(dir, "meta"), "-o", filepath.Join(dir, "x"), c.url}
				if flag != "" {
					args = append(args, flag)
				}
				run(args, strings.NewReader(""), &out, &said)
				if got := strings.Join(number.FindAllString(said.String(), -1), ", "); got != c.notes {
					t.Errorf("notes %q, want %q: %s", got, c.notes, &said)
				}
				if flag != "" && !strings.Contains(said.String(), `"attempt":`+c.attempts+`,`) {
					t.Errorf("want attempt %s: %s", c.attempts, &said)
				}
				meta, err := os.ReadFile(filepath.Join(dir, "meta"))
				if !strings.Contains(string(meta), `"attempts":`+c.attempts+`,`) || err != nil {
					t.Errorf("want %s attempts: %s, %v", c.attempts, meta, err)
				}
				if c.wrong != "" && c.attempts != "" && int32(c.attempts[0]-'0') != asked.Load() {
					t.Errorf("%d requests, want %s", asked.Load(), c.attempts)
				}
				if want := string(c.attempts[0] - 1); out.String() != want {
					t.Errorf("num_retries %s, want %s", &out, want)
				}
			}
		})
	}
}
