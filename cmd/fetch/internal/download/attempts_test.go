package download_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestAttempts checks the number of attempts in notes, errors, records and the
// variable num_retries, and the limit in notes.
func TestAttempts(t *testing.T) {
	var requests atomic.Int32
	// One letter per response: b is status 503, c is a truncated body, r is a
	// truncated body that can be resumed.
	responses := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := responses[min(int(requests.Add(1)), len(responses))-1]
		if response == 'b' {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		if response == 'r' {
			w.Header().Set("ETag", `"1"`)
			var first int
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first); err == nil {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-99/100", first))
				w.Header().Set("Content-Length", strconv.Itoa(100-first))
				w.WriteHeader(http.StatusPartialContent)
				w.Write([]byte("more"))
				return
			}
		}
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("a beginning"))
	}))
	defer s.Close()
	number := regexp.MustCompile(`attempt \d+( of \d+)?`)
	numberJSON := regexp.MustCompile(`"type":"retry",.*"attempt":(\d+),`)
	for _, c := range []struct {
		name, url, responses, notes string
		attempts                    string
		retry                       string
	}{
		{"connection refused", "http://" + commandtest.ClosedPort(t) + "/", "", "attempt 2 of 2", "2", "3"},
		{"ftp connection refused", "ftp://" + commandtest.ClosedPort(t) + "/x", "", "attempt 2 of 2", "2", "3"},
		{"busy", s.URL, "b", "attempt 2 of 4, attempt 3 of 4, attempt 4 of 4", "4", "3"},
		{"no retries", s.URL, "b", "", "1", "0"},
		{"truncated", s.URL, "c", "attempt 2, attempt 3", "3", "2"},
		{"busy, truncated, busy", s.URL, "bcb", "attempt 2 of 3, attempt 3, attempt 4 of 5, attempt 5 of 5",
			"5", "2"},
		{"resumed", s.URL, "rr", "attempt 2 of 3, attempt 3 of 3", "3", "2"},
		{"busy, resumed, resumed", s.URL, "brr", "attempt 2 of 5, attempt 3 of 5, attempt 4 of 5, attempt 5 of 5", "5", "4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, flag := range []string{"", "--error-json"} {
				requests.Store(0)
				responses = c.responses
				dir := t.TempDir()
				var out, stderr bytes.Buffer
				args := []string{"--no-config", "--retry", c.retry, "--retry-delay", "0.001", "-w", "%{num_retries}",
					"-o", filepath.Join(dir, "x"), c.url}
				resumes := strings.Contains(c.responses, "r") // with --meta, a body is not resumed
				if !resumes {
					args = append(args, "--meta", filepath.Join(dir, "meta"))
				}
				if flag != "" {
					args = append(args, flag)
				}
				app.Run(args, strings.NewReader(""), &out, &stderr)
				if got := strings.Join(number.FindAllString(stderr.String(), -1), ", "); flag == "" && got != c.notes {
					t.Errorf("notes %q, want %q: %s", got, c.notes, &stderr)
				}
				if flag != "" {
					checkAttempts(t, stderr.String(), numberJSON.FindAllStringSubmatch(stderr.String(), -1), c.attempts)
				}
				meta, err := os.ReadFile(filepath.Join(dir, "meta"))
				if !resumes && (!strings.Contains(string(meta), `"attempts":`+c.attempts+`,`) || err != nil) {
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

// checkAttempts checks that the messages of --error-json are JSON, that the
// retries have the numbers 2, 3 and so on, and that the error has the last
// number.
func checkAttempts(t *testing.T, messages string, retries [][]string, last string) {
	t.Helper()
	for line := range strings.Lines(messages) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %q", line)
		}
	}
	for i, r := range retries {
		if r[1] != strconv.Itoa(i+2) {
			t.Errorf("retry %d has the number %s: %s", i+1, r[1], messages)
		}
	}
	if strconv.Itoa(len(retries)+1) != last || !strings.Contains(messages, `{"type":"error",`) ||
		!strings.Contains(messages, `"attempt":`+last+`,"message"`) {
		t.Errorf("want attempt %s: %s", last, messages)
	}
}

// TestAttemptsJSON checks that every line of standard error is JSON, whichever
// command and message it comes from.
func TestAttemptsJSON(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	dead := "http://" + commandtest.ClosedPort(t) + "/"
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"usage", []string{"--no-such-flag", "--error-json"}, []string{`{"type":"error","kind":"usage",`}},
		{"ls", []string{"ls", "--error-json", "--retry-delay", "0.001", dead},
			[]string{`{"type":"retry","kind":"connect",`, `"attempt":2,"attempts":2,`, `"retryable":true,"attempt":2,`}},
		{"info", []string{"info", "--error-json", s.URL}, []string{`"code":404,"exit":8,"retryable":false,"attempt":1,`}},
		{"note", []string{"--error-json", "-I", strings.TrimPrefix(s.URL, "http://")}, []string{`{"type":"note","message":"`}},
		{"verbose", []string{"--error-json", "-v", s.URL}, []string{`{"type":"verbose","message":"*   Trying `,
			`{"type":"verbose","message":"> GET / HTTP/1.1"}`, `{"type":"verbose","message":"< HTTP/1.1 404 Not Found"}`}},
		{"mirror", []string{"mirror", "--error-json", "--tries", "1", "--retry-delay", "0.001", "--output-dir", t.TempDir(), dead},
			[]string{`{"type":"retry",`, `"attempt":2,"attempts":2,`, `{"type":"note","message":"run 1 `, `{"type":"error",`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "mirror" && testing.Short() {
				t.Skip("waits for ten seconds between the attempts")
			}
			var out, stderr bytes.Buffer
			app.Run(append(c.args, "--no-config"), strings.NewReader(""), &out, &stderr)
			commandtest.Contains(t, stderr.String(), c.want...)
			for line := range strings.Lines(stderr.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %q", line)
				}
			}
		})
	}
}
