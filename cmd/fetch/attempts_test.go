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

// TestAttempts checks the number of attempts in notes, errors, records and the
// variable num_retries, and the limit in notes.
func TestAttempts(t *testing.T) {
	var requests atomic.Int32
	responses := "" // one letter per response: b is status 503, c is a truncated body
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := responses[min(int(requests.Add(1)), len(responses))-1]
		if response == 'b' {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("a beginning"))
	}))
	defer s.Close()
	number := regexp.MustCompile(`attempt \d+ of \d+|from the beginning in`)
	for _, c := range []struct {
		name, url, responses, notes string
		attempts                    string
		retry                       string
	}{
		{"connection refused", "http://" + closedPort(t) + "/", "", "attempt 2 of 2", "2", "3"},
		{"ftp connection refused", "ftp://" + closedPort(t) + "/x", "", "attempt 2 of 2", "2", "3"},
		{"busy", s.URL, "b", "attempt 2 of 4, attempt 3 of 4, attempt 4 of 4", "4", "3"},
		{"no retries", s.URL, "b", "", "1", "0"},
		{"truncated", s.URL, "c", "from the beginning in, from the beginning in", "3", "2"},
		{"busy, truncated, busy", s.URL, "bcb", "attempt 2 of 3, from the beginning in, attempt 4 of 5, attempt 5 of 5",
			"5", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, flag := range []string{"", "--error-json"} {
				requests.Store(0)
				responses = c.responses
				dir := t.TempDir()
				var out, stderr bytes.Buffer
				args := []string{"--no-config", "--retry", c.retry, "--retry-delay", "0.001", "-w", "%{num_retries}",
					"--meta", filepath.Join(dir, "meta"), "-o", filepath.Join(dir, "x"), c.url}
				if flag != "" {
					args = append(args, flag)
				}
				run(args, strings.NewReader(""), &out, &stderr)
				if got := strings.Join(number.FindAllString(stderr.String(), -1), ", "); got != c.notes {
					t.Errorf("notes %q, want %q: %s", got, c.notes, &stderr)
				}
				if flag != "" && !strings.Contains(stderr.String(), `"attempt":`+c.attempts+`,`) {
					t.Errorf("want attempt %s: %s", c.attempts, &stderr)
				}
				meta, err := os.ReadFile(filepath.Join(dir, "meta"))
				if !strings.Contains(string(meta), `"attempts":`+c.attempts+`,`) || err != nil {
					t.Errorf("want %s attempts: %s, %v", c.attempts, meta, err)
				}
				if c.responses != "" && c.attempts != "" && int32(c.attempts[0]-'0') != requests.Load() {
					t.Errorf("%d requests, want %s", requests.Load(), c.attempts)
				}
				if want := string(c.attempts[0] - 1); out.String() != want {
					t.Errorf("num_retries %s, want %s", &out, want)
				}
			}
		})
	}
}
