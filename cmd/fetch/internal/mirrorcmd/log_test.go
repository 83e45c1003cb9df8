package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/internal/test/peer"
)

// logRecords decodes the lines of --log-json. The result contains the records of
// each message.
func logRecords(t *testing.T, stderr string) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	for line := range strings.Lines(stderr) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		msg, _ := r["msg"].(string)
		all[msg] = append(all[msg], r)
	}
	return all
}

// TestLogJSON checks the keys of the records of a mirror. A server sends hostile
// bytes, and the URL has a password.
func TestLogJSON(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<a href='bad%%1b%%0a\u202e?password=geheim'>x</a><a href=//u:geheim@%s/two>y</a>", r.Host)
		case "/two":
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer site.Close()
	url := strings.Replace(site.URL, "//", "//user:geheim@", 1) + "/"
	for _, row := range []struct {
		name     string
		flags    []string
		messages []string
		visits   int
	}{
		{"default", nil, []string{"failed", "note", "run ended", "run started", "visit"}, 1},
		{"verbose", []string{"-v"}, []string{"failed", "host leased", "note", "run ended", "run started", "visit"}, 4},
		{"silent", []string{"-s"}, []string{"failed"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "archive")
			_, stderr := commandtest.RunStderr(t, 8, append([]string{"mirror", "--log-json", "--output-dir", dir, url}, row.flags...)...)
			if strings.Contains(stderr, "geheim") || strings.ContainsAny(stderr, "\x1b\u202e") {
				t.Errorf("the records contain a password or control characters: %q", stderr)
			}
			all := logRecords(t, stderr)
			if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, row.messages) || len(all["visit"]) != row.visits {
				t.Errorf("messages %q with %d visits, want %q with %d", got, len(all["visit"]), row.messages, row.visits)
			}
			for msg, keys := range map[string][]string{
				"run started": {"run", "continued", "seeds"},
				"run ended":   {"run", "result", "new", "failed", "pending", "bytes", "lost_leases", "duration"},
				"visit":       {"url", "host", "state", "status", "bytes", "duration", "attempt"},
				"host leased": {"host", "epoch", "urls"},
				"failed":      {"kind", "exit", "error"},
			} {
				for _, r := range all[msg] {
					for _, key := range append(keys, "time", "level") {
						if r[key] == nil {
							t.Errorf("%s has no %s: %v", msg, key, r)
						}
					}
					if msg == "visit" && r["level"] == slog.LevelWarn.String() && (r["kind"] != "not-found" || r["error"] == nil) {
						t.Errorf("a failed visit without its error: %v", r)
					}
				}
			}
		})
	}
}

// TestLogWorker checks that the records of a shared crawl name the worker, and
// that the password of the database is absent.
func TestLogWorker(t *testing.T) {
	db := peer.Postgres(t, false)
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	dsn := fmt.Sprintf("postgres://postgres:geheim@%s/postgres?search_path=crawl", db.Addr)
	_, stderr := commandtest.RunStderr(t, 8, "mirror", "--log-json", "--frontier", dsn, "--worker", "w1",
		"--output-dir", filepath.Join(t.TempDir(), "archive"), site.URL+"/")
	if strings.Contains(stderr, "geheim") {
		t.Error(stderr)
	}
	for _, msg := range []string{"run started", "visit", "run ended"} {
		if all := logRecords(t, stderr)[msg]; len(all) != 1 || all[0]["worker"] != "w1" {
			t.Errorf("%s: %v", msg, all)
		}
	}
	commandtest.Run(t, 2, "mirror", "--log-json", "--error-json", site.URL)
}

// TestNoteHandler checks which records a mirror prints without --log-json.
func TestNoteHandler(t *testing.T) {
	var out bytes.Buffer
	log := console.MirrorLogger(&console.Streams{Stderr: &out}).With("worker", "w1")
	log.Info("run started")
	log.Warn("visit", "url", "http://a.example/")
	log.Warn("the database is unavailable", "error", "postgres://u:geheim@h/: EOF\x1b")
	const want = "fetch: the database is unavailable: postgres://u:***@h/: EOF\\x1b\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
}
