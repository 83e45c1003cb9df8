package mirrorcmd_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// A lineWriter stores lines. It calls each function of on once, at the first line
// that contains its key.
type lineWriter struct {
	bytes.Buffer
	on map[string]func()
}

func (w *lineWriter) Write(line []byte) (int, error) {
	for text, f := range w.on {
		if bytes.Contains(line, []byte(text)) {
			delete(w.on, text)
			f()
		}
	}
	return w.Buffer.Write(line)
}

// TestLogUploads checks the records of a store that is unavailable at the start of
// a worker, and of a store that rejects the first attempt to upload a file.
func TestLogUploads(t *testing.T) {
	db, dir := peer.Postgres(t, false), t.TempDir()
	blocked := filepath.Join(dir, ".fetch-uploads")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		os.RemoveAll(blocked) // uploads to the directory fail from now on
		os.WriteFile(blocked, nil, 0o666)
		fmt.Fprint(w, "text")
	}))
	defer site.Close()
	s3 := peer.Versitygw(t, "warcs")
	s3.Stop()
	t.Setenv("AWS_ACCESS_KEY_ID", peer.User)
	t.Setenv("AWS_SECRET_ACCESS_KEY", peer.Password)
	for _, test := range []struct {
		name, store string
		on          map[string]func()
		want        map[string][]string // keys of the records, by message
	}{
		{"directory", "file://" + dir, map[string]func(){"upload failed": func() { os.Remove(blocked) }}, map[string][]string{
			"upload started": {"file", "bytes", "attempt"}, "upload failed": {"file", "bytes", "attempt", "kind", "wait", "error"},
			"upload finished": {"file", "bytes", "attempt", "duration"},
		}},
		{"S3", "s3://warcs?endpoint=http://" + s3.Addr, map[string]func(){"the store is unavailable": s3.Restart}, map[string][]string{
			"the store is unavailable; the worker waits": {"error"}, "the store responds again": {},
			"upload started": {"attempt"}, "upload finished": {"attempt"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stderr := &lineWriter{on: test.on}
			code := app.Run([]string{"mirror", "--no-config", "--log-json", "--ignore-robots", "--worker", "w1", "--store", test.store,
				"--frontier", fmt.Sprintf("postgres://postgres@%s/postgres?search_path=%s", db.Addr, strings.ToLower(test.name)),
				"--output-dir", filepath.Join(t.TempDir(), "archive"), site.URL + "/"}, strings.NewReader(""), &bytes.Buffer{}, stderr)
			if code != 0 || strings.Contains(stderr.String(), peer.Password) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			all := logRecords(t, stderr.String())
			for msg, keys := range test.want {
				if len(all[msg]) == 0 {
					t.Errorf("no record %q: %s", msg, stderr)
				}
				for _, r := range all[msg] {
					for _, key := range append(keys, "worker") {
						if r[key] == nil {
							t.Errorf("%s has no %s: %v", msg, key, r)
						}
					}
				}
			}
			var attempts []any
			for _, r := range slices.Concat(all["upload started"], all["upload finished"]) {
				attempts = append(attempts, r["attempt"])
			}
			want := "[1 1]"
			if len(all["upload failed"]) > 0 {
				want = "[1 2 2]"
			}
			if got := fmt.Sprint(attempts); got != want || len(all["archive"]) > 0 {
				t.Errorf("attempts %s, want %s: %s", got, want, stderr)
			}
		})
	}
}
