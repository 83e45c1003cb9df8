package download_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestTimestamping checks --timestamping with a missing, an old, a current and a
// truncated file, and with a list of URLs whose files have directories.
func TestTimestamping(t *testing.T) {
	changed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var bodies atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", changed.Format(http.TimeFormat))
		if date, err := http.ParseTime(r.Header.Get("If-Modified-Since")); err == nil && !changed.After(date) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		bodies.Add(1)
		w.Header().Set("Content-Length", "4")
		w.Write([]byte("body"))
	}))
	defer s.Close()
	run := func(args ...string) (int, string) {
		var stderr bytes.Buffer
		code := app.Run(append([]string{"-q", "--timestamping"}, args...), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		return code, stderr.String()
	}
	for _, c := range []struct {
		oddity, old string // content of the existing file
		age         time.Duration
		bodies      int32
	}{
		{"missing file", "", 0, 1},
		{"older file", "old!", time.Hour, 1},
		{"file with the same time", "body", 0, 0},
		{"newer file", "mine", -time.Hour, 0},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "a.txt")
		if c.old != "" {
			if err := os.WriteFile(name, []byte(c.old), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, time.Time{}, changed.Add(-c.age)); err != nil {
				t.Fatal(err)
			}
		}
		bodies.Store(0)
		code, stderr := run("--output-dir", dir, s.URL+"/a.txt")
		text, _ := os.ReadFile(name)
		info, err := os.Stat(name)
		if code != 0 || bodies.Load() != c.bodies || err != nil || c.bodies > 0 && (string(text) != "body" || !info.ModTime().Equal(changed)) {
			t.Errorf("%s: exit code %d, %d bodies, %q, %v: %s", c.oddity, code, bodies.Load(), text, info, stderr)
		}
		if c.bodies == 0 && string(text) != c.old {
			t.Errorf("%s: the file has changed to %q", c.oddity, text)
		}
	}

	dir := t.TempDir()
	for n, want := range []int32{3, 0} {
		bodies.Store(0)
		code, stderr := run("-Z", "--no-host-directories", "--output-dir", dir, s.URL+"/a/x", s.URL+"/b/x", s.URL+"/b/")
		if code != 0 || bodies.Load() != want {
			t.Errorf("run %d of a list: exit code %d, %d bodies: %s", n, code, bodies.Load(), stderr)
		}
	}
	for _, name := range []string{"a/x", "b/x", "b/index.html"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != "body" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}

	for _, flags := range []string{"", "-O -C -", "-O -r 0-1", "-O --skip-existing", "-O --no-clobber", "-O -z 2026-01-01", "-O -J"} {
		if code, stderr := run(append(strings.Fields(flags), s.URL+"/a")...); code != 2 || !strings.Contains(stderr, "--timestamping") {
			t.Errorf("%q: exit code %d: %s", flags, code, stderr)
		}
	}
}
